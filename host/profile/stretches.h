/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_STRETCHES_H
#define PROFILE_STRETCHES_H

/*
 * The longest stretches in which a CPU had interrupts off. A stretch is a run
 * of samples that say so; it lasts at least from the first to the last of them
 * and at most from the sample before to the one after. What holds interrupts
 * off is in all of their stacks: the innermost function that is.
 */

#include "profile/weigh.h"

/* The run of one CPU, while it lasts. */
struct stretches_run {
    struct weigh_stretch stretch; /* samples 0: there is none */
    uint64_t previous;            /* time of the last sample, 0 = unknown */
    uint64_t gaps;                /* of the CPU when it came */
    uint32_t *functions; /* that all have in common, the outermost first */
    size_t depth;
    size_t room;
};

/* Starts as zeros, and (view) and (weighed), which has the result. */
struct stretches {
    struct view *view;
    struct weighed *weighed;
    struct index cpus;
    struct stretches_run *runs;
};

/* A weigher that sees all samples of the view; (owner) is struct stretches. */
bool stretches_take(void *owner, const struct event *event, uint32_t node,
                    const struct model_cpu *cpu, struct model_count *count);

/* After the last sample; frees what is not the result. */
void stretches_end(struct stretches *stretches);

#endif
