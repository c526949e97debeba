/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLAME_ALIGN_H
#define FLAME_ALIGN_H

/*
 * Aligns two clocks of one guest: that of samples from outside, and that of its
 * own profiler, the clock inside.
 *
 * Every few milliseconds the sampler reads the time of the profiler's newest
 * sample: the clock inside is then at or after it, and before the next sample
 * in the profiler's trace, whatever the host does. From one reading to the next
 * the clock inside advances by the time outside times a rate, within a
 * tolerance, the slack: twice the smallest with which nearly all readings
 * agree. Where two disagree, because the host did not run one side, the clock
 * jumps. The result is the middle of what is possible, its error half of it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALIGN_UNLIMITED INFINITY

/* A reading, in clocks. */
struct align_mark {
    double outside;
    double least; /* the clock inside is at least */
    double most;  /* and at most; ALIGN_UNLIMITED */
};

struct align {
    struct align_mark *marks; /* in the order of time, narrowed */
    size_t count;
    bool *jumps;  /* by mark: the clock jumps between the one before and it */
    double rate;  /* clocks inside for each outside */
    double slack; /* tolerance of (rate), relative; ALIGN_UNLIMITED: none, only
                     the limits count */
    size_t jumped;
    size_t refused; /* marks that contradict others */
};

/* Copies (marks), which are in the order of time, and narrows their limits.
 * False if there are too few marks, or if they contradict each other. */
bool align_fit(struct align *align, const struct align_mark *marks,
               size_t count);

/* The clock inside at (outside); *(error) is by how much it may be off. */
double align_at(const struct align *align, double outside, double *error);

void align_free(struct align *align);

#endif
