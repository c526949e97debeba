/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_SEND_H
#define PROF_TRACE_SEND_H

/*
 * How the drain takes what was recorded and puts it into the stream, among the
 * samples and in the order of time. So a reader of the stream knows the object
 * that each sample has hit: the last that was switched to.
 *
 * Contexts: thread, from the drain and the calls around it.
 */

#include "trace/recorder.h"

#include <prof/config.h>
#include <stdbool.h>
#include <stdint.h>

/* Sends what (cpu) has recorded up to (tsc). */
#if PROF_CPUS_MAX > 1
void prof_trace_send_until_by(const struct prof_cpu *cpu, uint64_t tsc);
#else
void prof_trace_send_until(uint64_t tsc);
#define prof_trace_send_until_by(cpu, tsc) prof_trace_send_until(tsc)
#endif

/* The same, before a sample of (cpu) at (tsc) is sent. */
static inline void prof_trace_before(const struct prof_cpu *cpu, uint64_t tsc)
{
    if (PROF_WITH_TRACE &&
        __builtin_expect(prof_trace_cpu_of(cpu)->due <= tsc, 0))
        prof_trace_send_until_by(cpu, tsc);
}

#if PROF_CPUS_MAX > 1
/* How far (cpu), which is not the first, has recorded; and at the end of a
 * drain: sends that, but not what comes after (limit), the time of its first
 * sample that is not read yet. To be asked in this order: then no sample is
 * sent after what has happened later. */
uint32_t prof_trace_mark(const struct prof_cpu *cpu);
void prof_trace_flush_other(const struct prof_cpu *cpu, uint32_t mark,
                            uint64_t limit);

/* A turn of the event loop of the current CPU: brings its part of the table of
 * objects up to its ring. Contexts: thread, any CPU. */
void prof_trace_poll(void);

/* How another CPU is woken for a turn of its loop; NULL: not at all. */
void prof_trace_kick_by(void (*by)(uint32_t number));
#endif

/* Whether a quarter of the ring waits to be sent: a drain is due. */
bool prof_trace_is_filling(void);

/* At the end of each drain: sends the rest, and goes on with a dump. */
void prof_trace_flush(void);

/* A reader joins, or a new stream begins: objects that live are sent again. */
void prof_trace_hello(void);

/* The stream ends: sends what there is; in a panic the history, too. The
 * recorder goes on for the next stream, but not after a panic. */
void prof_trace_last(bool panic);

#if !PROF_WITH_TRACE
#define prof_trace_is_filling() false
#define prof_trace_flush_other(cpu, mark, limit)                               \
    PROF_LEFT_OUT(prof_trace_flush_other(cpu, mark, limit))
#define prof_trace_mark(cpu) 0
#define prof_trace_poll() PROF_LEFT_OUT(prof_trace_poll())
#define prof_trace_kick_by(by) PROF_LEFT_OUT(prof_trace_kick_by(by))
#define prof_trace_flush() PROF_LEFT_OUT(prof_trace_flush())
#define prof_trace_hello() PROF_LEFT_OUT(prof_trace_hello())
#define prof_trace_last(panic) PROF_LEFT_OUT(prof_trace_last(panic))
#endif

#endif
