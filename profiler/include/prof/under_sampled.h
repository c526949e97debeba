/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_UNDER_SAMPLED_H
#define PROF_UNDER_SAMPLED_H

/*
 * The rule, common to guest and host, for the warning that samples show
 * significantly less work than the exact account of the event loop
 * (<prof/loop_stats.h>).
 */

/* Ticks that count as one sample: the sampling period changes every so many
 * ticks, and all ticks of one period may be in step with a program. */
#define PROF_UNDER_SAMPLED_ONE 32u

/* Samples needed for a warning, counted as above. */
#define PROF_UNDER_SAMPLED_LEAST 16u

/* Largest difference between the times that samples and account cover, as a
 * fraction, 1/8, of the time. */
#define PROF_UNDER_SAMPLED_APART 8u

/* Threshold for the account's share: a quarter more than (high), the upper end
 * of the 95 % confidence interval of the samples' share. */
#define PROF_UNDER_SAMPLED_TIMES(high) ((high)*5 / 4)

#define PROF_UNDER_SAMPLED_TEXT                                                \
    "% in tasks and callbacks: work that timers start is under-sampled; see "  \
    "docs/loop.md"

#endif
