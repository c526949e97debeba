/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STREAM_PUT_H
#define PROF_STREAM_PUT_H

/* How the parts of the encoder, and the recorder of objects, put events into
 * the stream, which must be on where nothing else is said. Contexts: thread. */

#include "sample/cpu_state.h"
#include "stream/packet.h"

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

#if PROF_CPUS_MAX > 1
/* The same into packets of (cpu), at (tsc) by its own counter. */
bool prof_stream_put_by(const struct prof_cpu *cpu, enum prof_event kind,
                        uint64_t tsc, const void *fields, uint32_t bytes);
#endif

/* (cycles) in clocks of the stream. */
uint64_t prof_stream_span(uint64_t cycles);

/* The stream's packets, for those who define what their events mention: whether
 * (bytes) more fit at (tsc), events' heads included, into the packet in the
 * making or a new one. False: the transport refuses. */
struct prof_packet_writer *prof_stream_writer(void);
bool prof_stream_room(uint64_t tsc, uint32_t bytes);

/* The same of (cpu)'s packets, at (tsc) by its own counter. */
#if PROF_CPUS_MAX > 1
struct prof_packet_writer *prof_stream_writer_of(const struct prof_cpu *cpu);
bool prof_stream_room_by(const struct prof_cpu *cpu, uint64_t tsc,
                         uint32_t bytes);
#else
#define prof_stream_writer_of(cpu) prof_stream_writer()
#define prof_stream_room_by(cpu, tsc, bytes) prof_stream_room(tsc, bytes)
#endif

#endif
