/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FLOOR_H
#define PROF_FLOOR_H

/*
 * The floor: the shortest period that a machine keeps. KVM raises the interrupt
 * of a periodic timer at most every 200 us (older versions 500 us), however it
 * is programmed. Ticks below the floor never exist: they do not count as
 * missed, and their time is not stolen. PROF_WITH_BUILTIN and PROF_WITH_PIT.
 */

#include "sample/cpu_state.h"

#include <stdbool.h>
#include <stdint.h>

struct prof_pit_rate; /* pit.h */

/*
 * Sets the source: its timer is called (timer), and programmed to (rate); NULL:
 * there is none. Discards the floor found for another source: (rate)->least is
 * 0. Contexts: boot.
 */
void prof_floor_open(struct prof_pit_rate *rate, const char *timer);

/*
 * Starts to check, for up to two seconds, whether ticks come at the rate in
 * force, unless all machines keep that rate or this one is known to. While a
 * floor is suspected, no tick counts as missed, until the suspicion is refuted
 * or the clock is set again. Contexts: thread, interrupts off.
 */
void prof_floor_look(void);

/*
 * Returns whether a floor was found, which is now (rate)->least, and the rate
 * in force is not lowered yet. The caller then calls set_period() again, for
 * any rate, which must choose (ours) of at least prof_floor_mean() counts, if
 * it can; and prof_floor_slowed_down(), which prints a line. Contexts: thread.
 */
bool prof_floor_too_fast(void);
void prof_floor_slowed_down(void);

/* Returns the shortest mean period, in counts, for which no period is below the
 * floor; 1: no floor is known. Contexts: thread. */
uint32_t prof_floor_mean(void);

/* Ends the check. Contexts: boot, thread. */
void prof_floor_end(void);

/*
 * Checks the samples of (cpu) from (entry) on, before they are drained. (now):
 * no more samples will come soon. Returns whether the drain must leave them in
 * the vector, so that none is drained before it was checked. Contexts: a drain.
 */
bool prof_floor_waits(const struct prof_cpu *cpu, struct prof_entry *entry,
                      bool now);

#endif
