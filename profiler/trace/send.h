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

#include <prof/config.h>
#include <stdbool.h>
#include <stdint.h>

#if PROF_WITH_TRACE

#include "trace/recorder.h"

/* Sends what was recorded up to (tsc). */
void prof_trace_send_until(uint64_t tsc);

/* The same, before a sample at (tsc) is sent. */
static inline void prof_trace_before(uint64_t tsc)
{
    if (__builtin_expect(prof_trace_cpu_here()->due <= tsc, 0))
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

#else

static inline void prof_trace_before(uint64_t tsc)
{
    (void)tsc;
}

static inline bool prof_trace_is_filling(void)
{
    return false;
}

static inline void prof_trace_flush(void)
{
}

static inline void prof_trace_hello(void)
{
}

static inline void prof_trace_last(bool panic)
{
    (void)panic;
}

#endif

#endif
