/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TICK_H
#define PROF_TICK_H

/*
 * Taking over the kernel's tick, and giving it back, so that the kernel's clock
 * notices neither. All of these: thread, interrupts off; (on) tells whether
 * the caller had them on, and lets them in for moments while waiting.
 */

#include <stdbool.h>
#include <stdint.h>

/* Whether the PIT is to run faster than the kernel asked for. */
bool prof_tick_is_multiplied(void);

/* Waits, where (on), until no tick that has come can still be pending. */
void prof_tick_settle(bool on);

/* Cycles until the kernel's next tick, the PIT being as the kernel had it. */
uint64_t prof_tick_left(void);

/* The same while the PIT runs faster. */
uint64_t prof_tick_left_multiplied(void);

/*
 * Gives the tick back: when the kernel has had the next one, and not before,
 * the PIT counts whole ticks of the kernel's again. To be called with the stub
 * still in place. Takes about two ticks at most, unless the kernel is still
 * being given ticks that it was owed. Where not (on) it does not wait, and the
 * kernel's clock loses what has passed of a tick.
 */
void prof_tick_give_back(bool on);

#endif
