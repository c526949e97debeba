/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PIT_OWNERSHIP_H
#define PROF_PIT_OWNERSHIP_H

/*
 * Taking over the PIT from the kernel and giving it back, so that the kernel's
 * clock notices neither. Contexts of all of these: thread, interrupts off;
 * (on): the caller had them on, and they are let in for moments while waiting.
 */

#include <stdbool.h>
#include <stdint.h>

struct prof_pit_rate;

/* Cycles in (counts) of the PIT, by the best knowledge there is. */
uint64_t prof_handover_cycles(const struct prof_pit_rate *rate,
                              uint32_t counts);

/* Waits, where (on), until no tick that has come can still be pending. */
void prof_handover_wait(const struct prof_pit_rate *rate, bool on);

/* Cycles until the kernel's next tick, the PIT being as the kernel had it. */
uint64_t prof_handover_left(const struct prof_pit_rate *rate);

/* The same while the PIT runs faster. */
uint64_t prof_handover_left_multiplied(void);

/*
 * Gives the PIT back: when the kernel has had its next tick, and not before, it
 * counts whole ticks of the kernel's again. The stub must still be in place.
 * Takes about two ticks at most, unless the kernel is still being given ticks
 * that it was owed. Where not (on) it does not wait, and the kernel's clock
 * loses what has passed of a tick.
 */
void prof_handover_return(const struct prof_pit_rate *rate, bool on);

/* The kernel does not use the PIT: stops it. */
void prof_handover_end(const struct prof_pit_rate *rate, bool on);

#endif
