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

/* Sends what was recorded up to (tsc). */
void prof_trace_send_until(uint64_t tsc);

/* The same, before a sample at (tsc) is sent. */
static inline void prof_trace_before(uint64_t tsc)
{
    if (PROF_WITH_TRACE &&
        __builtin_expect(prof_trace_cpu_here()->due <= tsc, 0))
        prof_trace_send_until(tsc);
}

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
#define prof_trace_flush() PROF_LEFT_OUT(prof_trace_flush())
#define prof_trace_hello() PROF_LEFT_OUT(prof_trace_hello())
#define prof_trace_last(panic) PROF_LEFT_OUT(prof_trace_last(panic))
#endif

#endif
