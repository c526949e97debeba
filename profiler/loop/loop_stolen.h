/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_STOLEN_H
#define PROF_LOOP_STOLEN_H

/*
 * Time that the host has stolen belongs to nobody. It becomes known when the
 * drain finds that ticks are missing before a sample. Then it is taken out of
 * what ran at that time:
 *
 *     begin         ... stolen ...  sample    pause           drain
 *       |--------------|########|-----|---------|               |
 *       |--------------|        |-----|---------|  is the run's own time
 *
 * That is a run that has paused since, which was noted because of its length
 * (long_runs.h); or one that has not, and is found on the stack by its begin; or the
 * last long interrupt. What was read before stays as it was read: counts only
 * grow.
 *
 * Contexts: the drain.
 */

#include <prof/loop.h>
#include <stdint.h>

/* (cycles) were stolen before the sample at (tsc). */
void prof_loop_put_stolen(uint64_t tsc, uint64_t cycles);
static inline void prof_loop_stolen(uint64_t tsc, uint64_t cycles)
{
    (void)tsc;
    (void)cycles;
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_stolen(tsc, cycles));
}

#endif
