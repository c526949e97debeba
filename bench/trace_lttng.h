/* SPDX-License-Identifier: Apache-2.0 */

/* The same events as tracepoints of LTTng-UST, which includes this file several
 * times. */

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER parasite
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./trace_lttng.h"

#if !defined(BENCH_TRACE_LTTNG_H) ||                                           \
    defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_TRACE_LTTNG_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
#define ONE_OBJECT(name)                                                       \
    LTTNG_UST_TRACEPOINT_EVENT(parasite, name,                                 \
        LTTNG_UST_TP_ARGS(uint32_t, object),                                   \
        LTTNG_UST_TP_FIELDS(                                                   \
            lttng_ust_field_integer(uint32_t, object, object)))

LTTNG_UST_TRACEPOINT_EVENT(parasite, create,
    LTTNG_UST_TP_ARGS(uint32_t, object, uint8_t, kind, uint16_t, site),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint32_t, object, object)
        lttng_ust_field_integer(uint8_t, kind, kind)
        lttng_ust_field_integer(uint16_t, site, site)))
LTTNG_UST_TRACEPOINT_EVENT(parasite, wake,
    LTTNG_UST_TP_ARGS(uint32_t, object, uint32_t, by),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint32_t, object, object)
        lttng_ust_field_integer(uint32_t, by, by)))
LTTNG_UST_TRACEPOINT_EVENT(parasite, suspend,
    LTTNG_UST_TP_ARGS(uint16_t, why),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint16_t, why, why)))
ONE_OBJECT(switch_to)
ONE_OBJECT(try_read)
ONE_OBJECT(read)
ONE_OBJECT(resolve)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
