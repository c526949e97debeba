/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_PHASE_H
#define PROF_TRACE_PHASE_H

/*
 * What the recorder does at present. Whether events are recorded
 * (prof_trace_on) follows from it, and is set nowhere else.
 *
 *     OFF         nothing
 *     STREAM      records; each drain sends it
 *     ARMED       records, keeps the last events
 *     TRIGGERED   does not; a dump is to be made
 *     DUMPING     records; a dump is made of what there was when it began
 *     FINISHING   does not; a dump is made of all there is
 *
 *                trigger                dump
 *     ARMED ---------------> TRIGGERED ------> FINISHING --+
 *       |  dump              trigger              ^        |
 *       +--------> DUMPING -----------------------+        | dumped
 *       ^             | dumped                             |
 *       +-------------+------------------------------------+
 *
 * A new mode ends each of them, whatever is pending.
 */

#include <prof/trace.h>
#include <stdbool.h>

enum prof_trace_phase {
    PROF_TRACE_PHASE_OFF,
    PROF_TRACE_PHASE_STREAM,
    PROF_TRACE_PHASE_ARMED,
    PROF_TRACE_PHASE_TRIGGERED,
    PROF_TRACE_PHASE_DUMPING,
    PROF_TRACE_PHASE_FINISHING,
};

/* Contexts: any. */
enum prof_trace_phase prof_trace_phase(void);

/* OFF, STREAM or ARMED. Contexts: thread, panic. */
void prof_trace_phase_begin(enum prof_trace_mode mode);

/* A dump begins; it has ended. No effect where none is to be made, or is being
 * made. Contexts: thread, panic. */
void prof_trace_phase_dump(void);
void prof_trace_phase_dumped(void);

/* Whether a dump is being made. */
static inline bool prof_trace_phase_dumps(void)
{
    return prof_trace_phase() == PROF_TRACE_PHASE_DUMPING ||
           prof_trace_phase() == PROF_TRACE_PHASE_FINISHING;
}

#endif
