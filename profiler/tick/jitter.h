/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_JITTER_H
#define PROF_JITTER_H

/*
 * Varies the timer's period, so that no loop of the program can run in step
 * with it; jitter.c says how and why. Only while a PIT runs faster than the
 * kernel asked for: at the kernel's own rate its period is not ours to vary.
 * Periods are in counts of the PIT's clock, whatever timer there is.
 */

#include <stdint.h>

struct prof_jitter;
struct prof_pit_rate;

#define PROF_JITTER_TICKS 32u /* between two changes of the period */

/* Before the first use: the options' seed, and (set), which programs the timer
 * to a period, with interrupts off. Contexts: boot. */
void prof_jitter_open(void (*set)(uint32_t divisor));

/* Programs the timer to a first period, and lets it vary around (rate)'s own,
 * the mean, from now on, or not at all. Contexts: thread, interrupts off. */
void prof_jitter_begin(const struct prof_pit_rate *rate);

/* The timer is about to be programmed by somebody else: for the samples to come
 * the mean is what a period should be. Contexts: as above. */
void prof_jitter_end(const struct prof_pit_rate *rate);

/* Chooses the next period, in PIT counts, where it varies. Contexts: any. */
uint32_t prof_jitter_next(struct prof_jitter *jitter);

/* The mean of (rate)'s own periods, below 65536, and how far they are to vary
 * to either side: in one word, so that another CPU never reads halves of two.
 * PROF_CPUS_MAX > 1. Contexts: thread. */
uint32_t prof_jitter_spread(const struct prof_pit_rate *rate);

/* For a timer whose periods the drain need not know (clock.h), of CPU
 * (number): plans them by (spread), and, at each tick, says which is in force
 * from then on. PROF_CPUS_MAX > 1. Contexts: that CPU, interrupts off. */
void prof_jitter_plan(struct prof_jitter *jitter, uint32_t spread,
                      uint32_t number);
uint32_t prof_jitter_step(struct prof_jitter *jitter);

/*
 * As many ticks have come, the kernel's among them: programs another period,
 * and notes it in the sample of this tick, whose time stamp ends in (tsc_low).
 * If that went to the overflow table the period stays, so that the drain always
 * knows which one was in force. Where the interrupt may have to drain, that
 * looks, and says when to call this again. Contexts: interrupt, called by the
 * stub. Wait-free; three port writes where it is the PIT.
 */
void prof_jitter_turn(uint32_t tsc_low);

#endif
