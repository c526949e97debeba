/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_READER_H
#define PROF_TRACE_READER_H

/*
 * What of the ring was read. Contexts: thread, panic.
 */

#include "stream/packet.h"
#include "trace/encode.h"

#include <stdbool.h>
#include <stdint.h>

struct prof_trace_reader {
    uint32_t tail;   /* the next position */
    uint32_t lost;   /* events before that, since the last LOST */
    bool unsure;     /* LOST was put, and who is current was not */
    uint64_t tsc;    /* time of the last event; later ones have no earlier */
    uint64_t read;   /* events so far, lost ones included */
    uint64_t missed; /* of these: lost */
};

/* The next record up to position (until), which becomes the next one to be
 * passed. False: there is none. */
bool prof_trace_reader_next(struct prof_trace_reader *reader,
                            const struct prof_trace_cpu *cpu, uint32_t until,
                            struct prof_trace_record *record, uint64_t *tsc);

/* Puts (record), and before it what was lost. False: no room; then it will be
 * the next one again. */
bool prof_trace_reader_put(struct prof_trace_reader *reader,
                           const struct prof_trace_cpu *cpu,
                           struct prof_trace_sink *sink,
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
                                const struct prof_trace_cpu *cpu,
                                struct prof_trace_sink *sink);

/* Which object is current before position (at); UNKNOWN if that was overwritten
 * while this looked. */
uint32_t prof_trace_current_at(const struct prof_trace_cpu *cpu, uint32_t at);

/* What the recorder has: the two readers of the ring, and what was sent. */
struct prof_trace_state {
    struct prof_trace_reader stream;
    struct prof_trace_reader history;
    uint32_t objects_sent; /* slots that a new reader knows of; beyond the last
                              slot: all */
    uint32_t dumps;
    uint64_t sent;
    struct prof_trace_sink stream_sink;
};

extern struct prof_trace_state prof_trace_state;

/* Puts ALIVE of slot (number), if there is an object; of one that has ended
 * only where (ended). False: no room. */
bool prof_trace_put_alive(struct prof_trace_sink *sink, uint64_t tsc,
                          uint32_t number, bool ended);

/* Dumps: begins one unless one is being made, and goes on with it; only goes
 * on; forgets one that is being made. */
void prof_trace_history_dump(void);
void prof_trace_history_go_on(void);
void prof_trace_history_forget(void);
uint64_t prof_trace_history_bytes(void);

/* Initialises both sinks, with their notes of names. */
void prof_trace_stream_open(uint32_t *notes);
void prof_trace_history_open(struct prof_packet_maker *memory, uint32_t *notes,
                             uint32_t names);

#endif
