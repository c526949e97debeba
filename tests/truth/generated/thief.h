/* SPDX-License-Identifier: Apache-2.0 */
#ifndef THIEF_H
#define THIEF_H

/*
 * A host that takes the CPU away, played by the guest: an interrupt that comes
 * at irregular times and keeps the CPU for 1 to 50 ms, with interrupts off. To
 * everything else in the guest this is the same: the TSC and the PIT go on, no
 * other instruction is executed, and of the PIT's ticks one is left, which
 * comes with the first instruction after it. With time by instructions
 * (QEMU's -icount) such a run repeats.
 *
 * One difference: where interrupts are off it waits until they are on.
 */

#include <stdint.h>

#define THIEF_PERCENT_MIN 2u
#define THIEF_PERCENT_MAX 90u

/* Takes (percent) in that range of the time from now on. Contexts:
 * thread. */
void thief_begin(uint32_t percent);

/* Takes nothing more, and prints how often it did, and how much. */
void thief_end(void);

#endif
