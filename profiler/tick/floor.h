/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FLOOR_H
#define PROF_FLOOR_H

/*
 * The shortest time between two ticks that a machine grants. KVM raises a
 * periodic timer's interrupt once in 200 us at most (older ones 500), however
 * it is programmed. Ticks beyond that were never made: they are not missed, and
 * nobody has stolen their time. PROF_WITH_BUILTIN and PROF_WITH_PIT.
 */

#include "sample/cpu_state.h"

#include <stdbool.h>
#include <stdint.h>

struct prof_pit_rate; /* pit.h */

/*
 * A source whose timer (timer), the PIT or another, is programmed by (rate);
 * NULL: there is none. Forgets what was found of another: (rate)->least is 0.
 * Contexts: boot.
 */
void prof_floor_open(struct prof_pit_rate *rate, const char *timer);

/*
 * Looks, for two seconds at most, whether ticks come as often as the rate in
 * force says, where a machine may not keep it and it is not known whether this
 * one does. From the moment that a floor is suspected no tick
 * counts as missed, until it has turned out not to be so, or the clock is set
 * anew. Contexts: thread, interrupts off.
 */
void prof_floor_look(void);

/*
 * Whether a floor was found, which is now (rate)->least, and the rate in force
 * is not yet lowered: set_period() is to be called again, for any rate, and
 * must choose (ours) of prof_floor_mean() counts at least, if it can. Then
 * prof_floor_slowed_down() prints that. Contexts: thread.
 */
bool prof_floor_too_fast(void);
void prof_floor_slowed_down(void);

/* The shortest mean such that no period is below the floor; 1: none is known.
 * Contexts: thread. */
uint32_t prof_floor_mean(void);

/* Looks no more. Contexts: boot, thread. */
void prof_floor_end(void);

/*
 * Looks at the samples of (cpu) from (entry) on, before they are drained; (now)
 * says that no more will come soon. Returns whether they are to stay where they
 * are: so that none is drained before it was looked at. Contexts: a drain.
 */
bool prof_floor_waits(const struct prof_cpu *cpu, struct prof_entry *entry,
                      bool now);

#endif
