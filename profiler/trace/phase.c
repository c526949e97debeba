/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Changes of the phase. A trigger may come from an interrupt, so each is made
 * with interrupts off.
 */

#include "trace/phase.h"

#include "base/cpu.h"

uint32_t prof_trace_on;

static enum prof_trace_phase phase;

static void enter(enum prof_trace_phase next)
{
    phase = next;
    prof_trace_on = next == PROF_TRACE_PHASE_STREAM ||
                    next == PROF_TRACE_PHASE_ARMED ||
                    next == PROF_TRACE_PHASE_DUMPING;
}

/* From (from) to (to), or from (or) to (then). */
static void change(enum prof_trace_phase from, enum prof_trace_phase to,
                   enum prof_trace_phase or, enum prof_trace_phase then)
{
    bool on = prof_interrupts_save();

    if (phase == from)
        enter(to);
    else if (phase == or)
        enter(then);
    prof_interrupts_restore(on);
}

enum prof_trace_phase prof_trace_phase(void)
{
    return __atomic_load_n(&phase, __ATOMIC_RELAXED);
}

enum prof_trace_mode prof_trace_mode(void)
{
    switch (prof_trace_phase()) {
    case PROF_TRACE_PHASE_OFF:
        return PROF_TRACE_OFF;
    case PROF_TRACE_PHASE_STREAM:
        return PROF_TRACE_STREAM;
    default:
        return PROF_TRACE_FLIGHT;
    }
}

void prof_trace_phase_begin(enum prof_trace_mode mode)
{
    bool on = prof_interrupts_save();

    enter(mode == PROF_TRACE_STREAM   ? PROF_TRACE_PHASE_STREAM
          : mode == PROF_TRACE_FLIGHT ? PROF_TRACE_PHASE_ARMED
                                      : PROF_TRACE_PHASE_OFF);
    prof_interrupts_restore(on);
}

void prof_trace_trigger(void)
{
    change(PROF_TRACE_PHASE_ARMED, PROF_TRACE_PHASE_TRIGGERED,
           PROF_TRACE_PHASE_DUMPING, PROF_TRACE_PHASE_FINISHING);
}

void prof_trace_phase_dump(void)
{
    change(PROF_TRACE_PHASE_ARMED, PROF_TRACE_PHASE_DUMPING,
           PROF_TRACE_PHASE_TRIGGERED, PROF_TRACE_PHASE_FINISHING);
}

void prof_trace_phase_dumped(void)
{
    change(PROF_TRACE_PHASE_DUMPING, PROF_TRACE_PHASE_ARMED,
           PROF_TRACE_PHASE_FINISHING, PROF_TRACE_PHASE_ARMED);
}
