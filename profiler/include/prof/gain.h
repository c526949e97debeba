/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_GAIN_H
#define PROF_GAIN_H

/*
 * Arithmetic of causal profiling, for the guest and for whoever reads its
 * stream: by how much the time from one visit of a progress point to the next
 * becomes shorter, with an interval.
 *
 * The time per visit is that of all experiments over all visits, not a mean of
 * means: experiments are of different lengths. The interval is that of the
 * delete-a-group jackknife: each group of experiments is left out in turn, and
 * the spread of the results is that of the estimate. It assumes nothing about
 * how single experiments vary. With few groups Student's distribution makes it
 * wider.
 *
 * Source: Shao and Tu, The Jackknife and Bootstrap, Springer 1995, section 2.3.
 * Contexts: thread; integers only.
 */

#include <prof/causal.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Groups at most. A group is of experiments that followed each other: what a
 * program remembers from one to the next must not make them look alike. */
#define PROF_GAIN_GROUPS 16u
#define PROF_GAIN_GROUPS_MIN 4u /* with visits; fewer say nothing */

/* All experiments of a group. */
struct prof_progress_sum {
    uint64_t cycles; /* virtual time; below 2^54 */
    uint32_t visits;
    uint32_t experiments;
};

/* Adds an experiment that took (cycles) and had (visits): to the group whose
 * turn it is. If all are full, each two become one. */
void prof_gain_add(struct prof_progress_sum groups[PROF_GAIN_GROUPS],
                   uint64_t cycles, uint32_t visits);

/* Adds (what) to (to). */
void prof_gain_sum(struct prof_progress_sum *to,
                   const struct prof_progress_sum *what);

/* The square root of (x), rounded down. */
uint32_t prof_gain_root(uint64_t x);

/*
 * Of groups at normal speed and of groups at the speed-up. Returns 0, or
 * PROF_ESTATE if there are too few groups with visits; *gain has their number
 * then. Limited to +-2,000,000,000 ppm.
 */
int prof_gain_of(const struct prof_progress_sum normal[PROF_GAIN_GROUPS],
                 const struct prof_progress_sum faster[PROF_GAIN_GROUPS],
                 struct prof_gain *gain);

/* Of a target that (samples) samples were in, which is all that is known of its
 * time: its gain is as wrong as they are few. */
void prof_gain_widen(struct prof_gain *gain, uint64_t samples);

#ifdef __cplusplus
}
#endif

#endif
