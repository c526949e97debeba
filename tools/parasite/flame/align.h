/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLAME_ALIGN_H
#define FLAME_ALIGN_H

/*
 * Two clocks of one guest: that of the samples from outside, and that of its
 * own profiler.
 *
 * Now and then the sampler outside reads when the profiler inside took its
 * newest sample. At that moment the clock inside is at least there, and before
 * the next sample that the trace from inside has. These limits hold whatever
 * the host does.
 *
 * They become narrower as far as both clocks run alike: from one reading to the
 * next the clock inside advances by the time outside, times a rate, give or
 * take a slack. The slack is twice the least with which nearly all readings
 * agree. Where two do not, because the host has not run one side, the clocks
 * jump: then the limits alone count. What is between the limits is the middle,
 * and the error half of the difference.
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
    bool *jumps;  /* from the mark before to this one */
    double rate;  /* clocks inside for each outside */
    double slack; /* share of it; ALIGN_UNLIMITED: the limits alone */
    size_t jumped;
    size_t refused; /* marks that contradict others */
};

/* Copies (marks), which are in the order of time, and narrows them; false if
 * they are too few, or contradict each other. */
bool align_fit(struct align *align, const struct align_mark *marks,
               size_t count);

/* The clock inside at (outside); *(error) is how far off it may be. */
double align_at(const struct align *align, double outside, double *error);

void align_free(struct align *align);

#endif
