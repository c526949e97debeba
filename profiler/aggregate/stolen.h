/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STOLEN_H
#define PROF_STOLEN_H

/*
 * Stolen time: the host did not run the guest. It is in an account of its own
 * and in no sample.
 *
 * The evidence is ticks that were missed before a sample (timebase.h). The
 * sample is charged one period, the rest was stolen. Where interrupts are
 * enabled at it, the guest itself may have kept the ticks waiting, and no clock
 * separates the two: the time was stolen if the host takes time at least four
 * times as often elsewhere, and has recently taken as much at once. Else it was
 * masked, and stays the sample's. Contexts: the drain.
 */

#include "sample/cpu_state.h"

#include <stdint.h>

/* Before the first sample of (cpu). */
void prof_stolen_open(struct prof_cpu *cpu);

/* What a sample of (cpu) at (pc) is charged that comes after (cycles), of which
 * the last (gap) are beyond one period, as prof_timebase_step() found. */
uint64_t prof_stolen_charge(struct prof_cpu *cpu, uintptr_t pc, uint64_t cycles,
                            uint64_t gap);

/* The same for (samples) samples of the overflow table, which cover (cycles)
 * together; at (pc), 0 = anywhere. *(gap) is what its half may lose, and is
 * reduced by what is taken from these. */
uint64_t prof_stolen_charge_all(struct prof_cpu *cpu, uintptr_t pc,
                                uint32_t samples, uint64_t cycles,
                                uint64_t *gap);

#endif
