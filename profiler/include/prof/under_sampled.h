/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_UNDER_SAMPLED_H
#define PROF_UNDER_SAMPLED_H

/*
 * When samples show certainly less work than the exact account of the event
 * loop (<prof/loop_stats.h>): the rule of the guest's report and the host
 * command. The sampling period changes every so many ticks; as those of one
 * period may all be in step with a program, they count as one sample.
 */
#define PROF_UNDER_SAMPLED_ONE 32u

/* So many of these are enough. */
#define PROF_UNDER_SAMPLED_LEAST 16u

/* Both cover the same time: they differ by this part of it at most. */
#define PROF_UNDER_SAMPLED_APART 8u

/* The account shows a quarter more than the upper end of the 95 % interval of
 * the samples' share, (high). */
#define PROF_UNDER_SAMPLED_TIMES(high) ((high)*5 / 4)

#define PROF_UNDER_SAMPLED_TEXT                                                \
    "% in tasks and callbacks: work that timers start is under-sampled; see "  \
    "docs/loop.md"

#endif
