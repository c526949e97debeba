/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_WEIGH_H
#define PROFILE_WEIGH_H

/*
 * Samples with other weights than the time that they account for:
 *
 *   --irqs-off       those taken with interrupts off, and no others
 *   --latency        by the time that went by: what several CPUs did at once is
 *                    worth as many times less (profile/ticks.h)
 *   --blame FUNCTION what the other CPUs did while some were in FUNCTION
 *
 * Everything that walks over the view's cells, or reads its packets again, has
 * these weights. A sample whose weight is 0 is in none.
 */

#include "profile/ticks.h"
#include "profile/view.h"

#include <stdio.h>

#define WEIGH_SKEW_US 50.0 /* the default of --skew */
#define WEIGH_STRETCHES 10u

/* A run of samples of one CPU with interrupts off. */
struct weigh_stretch {
    uint32_t cpu;
    uint64_t before; /* time of the sample before; 0 = there was none */
    uint64_t first;  /* and of its first sample */
    uint64_t last;   /* and of its last */
    uint64_t after;  /* and of the one after it; 0 = there was none */
    uint64_t samples;
    uint32_t function; /* name of the innermost that was in all of them */
    uint32_t caller;   /* name of its caller; 0 = none */
};

struct weighed {
    struct ticks ticks; /* of --latency and --blame */
    double clock_error; /* weigh_clock_error() */

    struct model_count off; /* of --irqs-off: all of these samples */
    struct weigh_stretch stretches[WEIGH_STRETCHES]; /* the longest first */
    size_t stretch_count;
};

/* The options of a view, and these. */
extern const struct argument_set weigh_options;

/* Gives the cells of (view), which has its names, the weights that its options
 * ask for. Ends the process if there are no such samples. */
void weigh_open(struct view *view);

/* Finds in (ticks), zeros, the samples of (view) that one tick took, for those
 * who weigh them later. There are none if one CPU was sampled, or if only some
 * CPUs, stacks or tasks are selected. */
void weigh_list(struct view *view, struct ticks *ticks);

/* The samples of (view) with interrupts off, and their longest stretches, of
 * (weighed), zeros; for those who weigh them later. */
void weigh_list_off(struct view *view, struct weighed *weighed);

/* For another reading of the packets of (view). */
struct model_weigher weigh_weigher(struct view *view);

/* Says on (out) what the weights are and rest on, in lines that begin with
 * (prefix): nothing if they are the samples' own. */
void weigh_print(const struct view *view, const char *prefix, FILE *out);

/* What the weights are, "latency" or "blame: f()"; "" for their own. */
void weigh_title(const struct view *view, char *text, size_t room);

/* How wrong the CPUs' clocks are at most, in microseconds; NAN = unknown. */
double weigh_clock_error(const struct model *model);

void weigh_close(struct view *view);

#endif
