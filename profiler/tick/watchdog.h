/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_WATCHDOG_H
#define PROF_WATCHDOG_H

#include <prof/tick.h>
#include <stdbool.h>

/*
 * While the source `pit` runs: checks whether somebody else has changed the
 * timer's gate or the PIT, takes it back, and prints a line. Corrects the
 * kernel's tick by what the drained samples say about the length of a period.
 * Contexts: the drain.
 */
void prof_watchdog(void);

/* Whether it found that there is nothing to sample with, since the last start:
 * prof_stop() must follow. Contexts: thread. */
bool prof_watchdog_gave_up(void);

/* What was taken back since the last reset. Contexts: thread. */
struct prof_tick_stats prof_tick_stats(void);

/* From now on both count from 0 again. Contexts: thread. */
void prof_tick_reset(void);

/* The gate, or the PIT, was taken back. Contexts: the drain. */
void prof_tick_count_gate(void);
void prof_tick_count_pit(void);

#endif
