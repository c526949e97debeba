/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAUSAL_MAKER_H
#define CAUSAL_MAKER_H

/* Events of causal profiling for tests of who reads them. */

#include "stream_maker.h"

static inline void made_named(struct made *made, enum prof_event kind,
                              const void *head, size_t bytes, const char *text)
{
    uint8_t fields[255];
    size_t length = strlen(text) + 1;

    memcpy(fields, head, bytes);
    memcpy(fields + bytes, text, length);
    made_event(made, kind, fields, bytes + length);
}

static inline void made_causal_target(struct made *made, uint16_t target,
                                      uint64_t visits, bool samples,
                                      const char *name)
{
    struct prof_event_causal_target head = {target, samples, visits};

    made_named(made, PROF_EVENT_CAUSAL_TARGET, &head, sizeof head, name);
}

static inline void made_causal_point(struct made *made, uint16_t point,
                                     uint8_t kind, const char *name)
{
    struct prof_event_causal_point head = {point, kind};

    made_named(made, PROF_EVENT_CAUSAL_POINT, &head, sizeof head, name);
}

static inline void made_causal_speedup(struct made *made, uint8_t number,
                                       uint32_t share)
{
    struct prof_event_causal_speedup fields = {number, share};

    MADE_EVENT(made, PROF_EVENT_CAUSAL_SPEEDUP, fields);
}

static inline void made_causal_visits(struct made *made, uint16_t point,
                                      uint32_t visits)
{
    struct prof_event_causal_visits fields = {point, visits};

    MADE_EVENT(made, PROF_EVENT_CAUSAL_VISITS, fields);
}

#endif
