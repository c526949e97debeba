/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_GAIN_H
#define PROF_GAIN_H

/*
 * Estimates the gain of causal experiments, for the guest and for readers of
 * its stream: by how much the time between two visits of a progress point
 * becomes shorter.
 *
 * The time per visit is the total time of all experiments divided by all their
 * visits, not a mean of means, as experiments differ in length. The confidence
 * interval is that of the delete-a-group jackknife: each group of experiments
 * is left out in turn, and the variance of the results estimates that of the
 * gain, for any distribution. Student's t widens the interval if there are few
 * groups.
 *
 * If groups with the same index have the same number of experiments on both
 * sides, or one side is ahead by one, the two sides took turns. Both are then
 * left out together, so that a host that is slow for a while, which slows down
 * both sides, does not widen the interval.
 *
 * Source: Shao and Tu, The Jackknife and Bootstrap, Springer 1995, section 2.3.
 * Contexts: thread. Integers only.
 */

#include <prof/causal.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of groups, and the number with visits that an estimate needs.
 * A group consists of consecutive experiments, as state that a program carries
 * from one experiment to the next would correlate interleaved groups. */
#define PROF_GAIN_GROUPS 16u
#define PROF_GAIN_GROUPS_MIN 4u

/* The sum of all experiments of a group. */
struct prof_progress_sum {
    uint64_t cycles; /* virtual time; below 2^54 */
    uint32_t visits; /* of all groups together, too: below 2^32 */
    uint32_t experiments;
};

/* Adds an experiment of (cycles) and (visits) to the first group that has fewer
 * experiments than group 0. If all have as many, merges each two groups into
 * one first. Has no effect if all of them would have 2^32 visits. */
void prof_gain_add(struct prof_progress_sum groups[PROF_GAIN_GROUPS],
                   uint64_t cycles, uint32_t visits);

/* Adds (what) to (to). */
void prof_gain_sum(struct prof_progress_sum *to,
                   const struct prof_progress_sum *what);

/* The square root of (x), rounded down. */
uint32_t prof_gain_root(uint64_t x);

/* Computes the gain of (faster) over (normal), limited to +-2,000,000,000 ppm.
 * Returns 0, or PROF_ESTATE if there are too few groups with visits; only
 * gain->groups, their number, is set then. */
int prof_gain_of(const struct prof_progress_sum normal[PROF_GAIN_GROUPS],
                 const struct prof_progress_sum faster[PROF_GAIN_GROUPS],
                 struct prof_gain *gain);

/* Widens the interval of (gain) for a target whose time is estimated from
 * (samples) samples. */
void prof_gain_widen(struct prof_gain *gain, uint64_t samples);

#ifdef __cplusplus
}
#endif

#endif
