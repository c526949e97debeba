/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_GAIN_H
#define PROF_GAIN_H

/*
 * What experiments say, for the guest and for readers of its stream: by how
 * much the time from one visit of a progress point to the next becomes shorter.
 *
 * The time per visit is the time of all experiments over the visits in all, not
 * a mean of means: experiments are of different lengths. The interval is that
 * of the delete-a-group jackknife: each group of experiments is left out in
 * turn, and the spread of the results is that of the estimate, whatever the
 * distribution. With few groups Student's distribution makes it wider.
 *
 * Where groups of the same number have as many experiments on both sides, these
 * took turns, and such a pair is left out at once: a host that is slow for a
 * while makes both sides slow, and the interval no wider.
 *
 * Source: Shao and Tu, The Jackknife and Bootstrap, Springer 1995, section 2.3.
 * Contexts: thread; integers only.
 */

#include <prof/causal.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Groups at most, of experiments that followed each other: what a program
 * remembers from one to the next must not make groups look alike. */
#define PROF_GAIN_GROUPS 16u
#define PROF_GAIN_GROUPS_MIN 4u /* with visits; fewer say nothing */

/* All experiments of a group. */
struct prof_progress_sum {
    uint64_t cycles; /* virtual time; below 2^54 */
    uint32_t visits;
    uint32_t experiments;
};

/* Adds an experiment to the group whose turn it is. If all are full, each two
 * become one. */
void prof_gain_add(struct prof_progress_sum groups[PROF_GAIN_GROUPS],
                   uint64_t cycles, uint32_t visits);

/* Adds (what) to (to). */
void prof_gain_sum(struct prof_progress_sum *to,
                   const struct prof_progress_sum *what);

/* The square root of (x), rounded down. */
uint32_t prof_gain_root(uint64_t x);

/* Returns 0, or PROF_ESTATE if there are too few groups with visits; *gain has
 * their number then. Limited to +-2,000,000,000 ppm. */
int prof_gain_of(const struct prof_progress_sum normal[PROF_GAIN_GROUPS],
                 const struct prof_progress_sum faster[PROF_GAIN_GROUPS],
                 struct prof_gain *gain);

/* The target's time is known from (samples) samples only. */
void prof_gain_widen(struct prof_gain *gain, uint64_t samples);

#ifdef __cplusplus
}
#endif

#endif
