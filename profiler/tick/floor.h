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

/* Takes the result, in cycles. Contexts: a drain, in the interrupt too. */
typedef void prof_floor_found(uint64_t cycles);

/*
 * Looks, for two seconds at most, whether ticks come as often as was asked for,
 * with periods of (least) counts and more, on average those of the clock.
 * (found) is called once if they do not. From the moment that this is suspected
 * no tick counts as missed, until it has turned out not to be so, or the clock
 * is set anew. Contexts: thread.
 */
void prof_floor_begin(uint32_t least, prof_floor_found *found);

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
