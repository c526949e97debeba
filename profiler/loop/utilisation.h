/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_UTILISATION_H
#define PROF_LOOP_UTILISATION_H

/*
 * How busy the loop was in the last seconds: all but the time between
 * prof_loop_idle() and prof_loop_idle_end(). What had been idle at the end of
 * each whole second is kept for a minute; it is found when idle time begins or
 * ends, so nothing is done in between. Times are of the time stamp counter;
 * contexts: thread.
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_UTILISATION_SECONDS 60u

/* Begins at (tsc), with (hz) cycles a second. */
void prof_utilisation_open(uint64_t tsc, uint64_t hz);

/* The CPU is idle from (tsc) on; and busy. */
void prof_utilisation_idle(uint64_t tsc);
void prof_utilisation_busy(uint64_t tsc);

/* How busy it was in the last (*seconds) whole seconds before (tsc), in
 * thousandths. Lowers (*seconds) to what there was; with 0 returns 0. */
uint32_t prof_utilisation(uint64_t tsc, uint32_t *seconds);

#endif
