/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_READER_H
#define PROF_TRACE_READER_H

/* Reads a ring, and puts its events into packets. Contexts: thread, panic. */

#include "trace/recorder.h"

#include <prof/format.h>
#include <stdbool.h>
#include <stdint.h>

/* Begins to read the ring of (cpu) at its head, and to write to (to), with a
 * note of each name. */
void prof_trace_reader_open(struct prof_trace_reader *reader,
                            const struct prof_trace_cpu *cpu,
                            struct prof_packet_writer *to, uint32_t *notes);

#if PROF_CPUS_MAX > 1
extern bool prof_trace_hurries; /* what is being written is not waited for */
#endif

/* The next record up to position (until), which becomes the next one to be
 * passed. False: there is none; or another CPU is just writing it. */
bool prof_trace_reader_next(struct prof_trace_reader *reader,
                            const struct prof_trace_cpu *cpu, uint32_t until,
                            struct prof_trace_record *record, uint64_t *tsc);

/* Puts (record), and before it what was lost. False: no room; then it will be
 * the next one again. */
bool prof_trace_reader_put(struct prof_trace_reader *reader,
                           const struct prof_trace_cpu *cpu,
                           const struct prof_trace_record *record,
                           uint64_t tsc);

/* Events that were put, or marked as lost. */
static inline uint32_t
prof_trace_reader_passed(const struct prof_trace_reader *reader)
{
    return (uint32_t)reader->read - reader->lost;
}

/* Passes over what was overwritten. To be called before the ring's positions
 * repeat (recorder.h): they say how much that is. */
void prof_trace_reader_catch_up(struct prof_trace_reader *reader,
                                const struct prof_trace_cpu *cpu);

/* Loses all that was not read. */
void prof_trace_reader_drop(struct prof_trace_reader *reader,
                            const struct prof_trace_cpu *cpu);

/* Puts what was lost and has no event after it. */
bool prof_trace_reader_put_lost(struct prof_trace_reader *reader,
                                const struct prof_trace_cpu *cpu);

/* Which object is current before position (at); UNKNOWN if that was overwritten
 * while this looked. */
uint32_t prof_trace_current_at(const struct prof_trace_cpu *cpu, uint32_t at);

/* Puts ALIVE of slot (number), if there is an object; of one that has ended
 * only where (ended). False: no room. */
bool prof_trace_put_alive(struct prof_trace_reader *reader, uint64_t tsc,
                          uint32_t number, bool ended);

/* ---- encode.c: from records to events, for the stream and for dumps. Nothing
 * is allocated. All return false where the transport refuses. */

/* Puts (record), which happened at (tsc), with the definitions that are due
 * before it. */
bool prof_trace_encode(struct prof_trace_reader *reader, uint64_t tsc,
                       const struct prof_trace_record *record);

/* Puts an event of (kind) with its (fields), with no names. */
bool prof_trace_encode_plain(struct prof_trace_reader *reader,
                             enum prof_event kind, uint64_t tsc,
                             const void *fields, uint32_t bytes);

/* Puts RECORDED: how many events of objects there should be before it. */
bool prof_trace_encode_count(struct prof_trace_reader *reader, uint64_t tsc);

/* Puts the definition of name (number), if it is due. */
bool prof_trace_encode_name(struct prof_trace_reader *reader, uint64_t tsc,
                            uint32_t number);

/* Whether (bytes) more fit at (tsc) into the packet of a dump or a new one. */
bool prof_trace_history_room(struct prof_packet_writer *writer, uint64_t tsc,
                             uint32_t bytes);

#endif
