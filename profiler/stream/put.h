/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STREAM_PUT_H
#define PROF_STREAM_PUT_H

/* Emits events to the stream, for the parts of the encoder and for the task
 * recorder. The stream MUST be on, unless stated otherwise. Contexts:
 * thread. */

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

/* Emits an event at (tsc), not a short one. Returns false if the transport
 * refuses. */
bool prof_stream_put(enum prof_event kind, uint64_t tsc, const void *fields,
                     uint32_t bytes);

#if PROF_CPUS_MAX > 1
/* Like prof_stream_put(), in packets of (cpu), at (tsc) of its own TSC. */
bool prof_stream_put_by(const struct prof_cpu *cpu, enum prof_event kind,
                        uint64_t tsc, const void *fields, uint32_t bytes);
#endif

/* Converts (cycles) to clocks of the stream. */
uint64_t prof_stream_span(uint64_t cycles);

/* Access to the stream's packets, for code that defines what its events refer
 * to. The first returns the writer. The second makes room for (bytes) more at
 * (tsc), including heads of events, in the current packet or a new one; it
 * returns false if the transport refuses. */
struct prof_packet_writer *prof_stream_writer(void);
bool prof_stream_room(uint64_t tsc, uint32_t bytes);

/* Likewise for the packets of (cpu), at (tsc) of its own TSC. */
#if PROF_CPUS_MAX > 1
struct prof_packet_writer *prof_stream_writer_of(const struct prof_cpu *cpu);
bool prof_stream_room_by(const struct prof_cpu *cpu, uint64_t tsc,
                         uint32_t bytes);
#else
#define prof_stream_writer_of(cpu) prof_stream_writer()
#define prof_stream_room_by(cpu, tsc, bytes) prof_stream_room(tsc, bytes)
#endif

#endif
