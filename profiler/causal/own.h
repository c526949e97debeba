/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_OWN_H
#define PROF_OWN_H

/*
 * What the profiler itself takes while a target runs, which is not the
 * target's. That is what comes between the two readings of the clock and the
 * target's own code, at its beginning and at its end: measured when experiments
 * begin, by visits in which nothing is done. And what is called inside of the
 * target: that reads the clock itself. Contexts: thread, interrupts off.
 */

#include "causal/causal.h"

#include "base/cpu.h"

struct prof_own {
    uint32_t visit;   /* cycles, of prof_target_enter() and leave() */
    uint32_t patched; /* of a function that is patched */
};
extern struct prof_own prof_own;

/* Experiments have begun, and functions are patched. Contexts: thread. */
void prof_own_measure(void);

/* A call of the profiler begins; for prof_own_end(). */
static inline uint64_t prof_own_begin(void)
{
    if (prof_causal.clock.nested == 0 || prof_causal_outside)
        return 0;
    return prof_tsc();
}

/* The call that has begun at (began) ends. If it was made in a target that
 * still runs, its time and (more) cycles are not the target's. */
void prof_own_end(uint64_t began, uint32_t more);

#endif
