/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_JITTER_H
#define PROF_JITTER_H

/*
 * Varies the timer's period, so that no loop of the program can run in step
 * with it; jitter.c explains how and why. Only while the timer runs faster than
 * the kernel's rate: at the kernel's own rate the period must not change.
 * Periods are in counts of the PIT's clock, for any timer.
 */

#include <stdint.h>

struct prof_jitter;
struct prof_pit_rate;

#define PROF_JITTER_TICKS 32u /* between two changes of the period */

/* Initialises the generator with prof.seed, and sets the function (set), which
 * programs the timer to a period, with interrupts off. Contexts: boot. */
void prof_jitter_open(void (*set)(uint32_t divisor));

/* Programs the timer to a first period. From now on, periods vary around their
 * mean, (rate)->ours, unless prof.jitter is 0. Contexts: thread, interrupts
 * off. */
void prof_jitter_begin(const struct prof_pit_rate *rate);

/* To be called before other code programs the timer: periods no longer vary,
 * and the mean is assumed for samples to come. Contexts: as
 * prof_jitter_begin(). */
void prof_jitter_end(const struct prof_pit_rate *rate);

/* Returns the next period, in PIT counts, if periods vary. Contexts: any. */
uint32_t prof_jitter_next(struct prof_jitter *jitter);

/* Returns the mean of periods, (rate)->ours, below 65536, and the range to
 * either side, in one word, so that another CPU reads both consistently.
 * PROF_CPUS_MAX > 1. Contexts: thread. */
uint32_t prof_jitter_spread(const struct prof_pit_rate *rate);

/* For a timer whose periods the drain need not know (clock.h), of CPU (number).
 * The first plans periods by (spread), a result of prof_jitter_spread(). The
 * second returns, at each tick, the period in force from then on.
 * PROF_CPUS_MAX > 1. Contexts: that CPU, interrupts off. */
void prof_jitter_plan(struct prof_jitter *jitter, uint32_t spread,
                      uint32_t number);
uint32_t prof_jitter_step(struct prof_jitter *jitter);

/*
 * Called after PROF_JITTER_TICKS ticks, including the kernel's: programs
 * another period, and records it in the sample of this tick, whose time stamp
 * has the low half (tsc_low). If the sample went to the overflow table, the
 * period does not change, so that the drain always knows the one in force. If
 * the interrupt may drain, calls tick_drain, which determines the next call of
 * this function. Contexts: interrupt, called by the stub. Wait-free; three port
 * writes for the PIT.
 */
void prof_jitter_turn(uint32_t tsc_low);

#endif
