/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORM_H
#define STORM_H

/*
 * Interrupts that record. In a storm the timer interrupts a thousand times as
 * often as the kernel asks, and now and then STORM_DEPTH of them are nested. In
 * steps, an interrupt comes after each instruction.
 */

#include <stdbool.h>
#include <stdint.h>

#define STORM_DEPTH 4u

/* What each context has recorded: values of its own counter, from 1 on. The
 * thread is at 0, interrupts are at their depth. */
extern volatile uint32_t storm_count[STORM_DEPTH + 1];

/* Both halves of a counter's value: one that was written in halves shows. */
#define STORM_VALUE(i) ((int64_t)(((uint64_t)(i) << 32) | (uint32_t)(i)))

/* The first step of the counter of all contexts: the next ones carry. */
#define STORM_BELOW ((1ll << 32) - 100)

/* Interrupts record all the time while they wait for the next one. */
extern volatile bool storm_is_noisy;

/* Records the next value of the thread. */
void storm_thread(void);

/* Adds 1 to a counter of all contexts, which the interrupt of each step does as
 * well from then on; and how often interrupts did. */
void storm_add(void);
extern volatile uint32_t storm_added;

/* What happens once, in an outermost interrupt, when (storm_at) values were
 * recorded in such; or in a step, after so many of them. */
extern volatile uint32_t storm_at;
extern void (*volatile storm_then)(void);

void storm_begin(void);
void storm_end(void);

/* Calls (function) with an interrupt after each of its instructions, which
 * records; at number (storm_at) it calls storm_then(). Returns how many. */
uint32_t storm_steps(void (*function)(void));

#endif
