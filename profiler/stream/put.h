/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STREAM_PUT_H
#define PROF_STREAM_PUT_H

/* How the parts of the encoder put events into the stream, which must be on.
 * For stream/ alone. Contexts: thread. */

#include <prof/format.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fields of an event of <prof/events.def>, in its order; and their size. */
#define PROF_FIELDS(name, ...)                                                 \
    &(const struct prof_event_##name){__VA_ARGS__},                            \
        sizeof(struct prof_event_##name)
#define PROF_NO_FIELDS NULL, 0

/* Puts an event at (tsc), not a short one. False: it could not be taken. */
bool prof_stream_put(enum prof_event kind, uint64_t tsc, const void *fields,
                     uint32_t bytes);

/* (cycles) in clocks of the stream. */
uint64_t prof_stream_span(uint64_t cycles);

#endif
