/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STREAM_PUT_H
#define PROF_STREAM_PUT_H

/* How the parts of the encoder, and the recorder of objects, put events into
 * the stream, which must be on where nothing else is said. Contexts: thread. */

#include "stream/interning.h"
#include "stream/stream_clock.h"

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

/* Whether a brief event may be put at (tsc), for which there is room. */
bool prof_stream_soon(uint64_t tsc);

/*
 * Makes sure that there is room for (bytes) more at (tsc), events' heads
 * included, and writes the number of the packet to (*sequence). Returns what
 * the reader knows of what is defined; NULL: the transport refuses.
 */
const struct prof_interning *prof_stream_room(uint64_t tsc, uint32_t bytes,
                                              uint32_t *sequence);

/* What packets outside this stream's order are made with; NULL while the stream
 * is off. */
struct prof_stream_link {
    const struct prof_transport *transport;
    const struct prof_stream_clock *clock;
    const uint8_t *uuid;
    uint64_t text_begin;
};
const struct prof_stream_link *prof_stream_link(void);

/* (cycles) in clocks of the stream. */
uint64_t prof_stream_span(uint64_t cycles);

#endif
