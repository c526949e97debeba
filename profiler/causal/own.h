/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_OWN_H
#define PROF_OWN_H

/*
 * The time that the profiler itself takes while a target runs, to be taken out
 * of the target's. It has two parts. One is between the readings of the clock
 * and the target's code, at its beginning and at its end: it is measured when
 * experiments begin, by visits that do nothing. The other is in calls of the
 * profiler from within the target: these read the clock at their beginning and
 * end. Contexts: thread, interrupts off.
 */

#include "causal/causal.h"

#include "base/cpu.h"

struct prof_own {
    uint32_t visit;   /* cycles of prof_target_enter() and _leave() */
    uint32_t patched; /* cycles of the hooks of a patched function */
};
extern struct prof_own prof_own;

/* Measures (prof_own). To be called when experiments have begun and functions
 * are patched. Contexts: thread. */
void prof_own_measure(void);

/* A call of the profiler begins. Returns what prof_own_end() needs. */
static inline uint64_t prof_own_begin(void)
{
    if (prof_causal.clock.nested == 0 || prof_causal_outside)
        return 0;
    return prof_tsc();
}

/* The call for which prof_own_begin() returned (began) ends. If the target that
 * it was made from still runs, its time and (more) cycles are not the
 * target's. */
void prof_own_end(uint64_t began, uint32_t more);

#endif
