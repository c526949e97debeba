/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_WATCHDOG_H
#define PROF_WATCHDOG_H

#include <prof/tick.h>

/*
 * While the source `pit` runs: checks whether somebody else has changed the
 * timer's gate or the PIT, takes it back, and prints a line. Corrects the
 * kernel's tick by what the drained samples say about the length of a period.
 * Contexts: the drain.
 */
void prof_watchdog(void);

/* What was taken back or given up since prof_init(). Written by tick/. */
extern struct prof_tick_stats prof_tick_counts;

#endif
