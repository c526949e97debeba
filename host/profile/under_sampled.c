/* SPDX-License-Identifier: Apache-2.0 */
/* Samples beside the exact account of the event loop. */

#include "profile/under_sampled.h"

#include "profile/interval.h"

#include <math.h>
#include <prof/under_sampled.h>
#include <stdio.h>

#define CONFIDENCE 0.95

/* Seconds that all samples cover, and stolen ones. */
static double sampled_time(const struct model *model)
{
    return ((double)model_clocks(model) + (double)model->stolen_clocks) /
           PROF_CLOCK_HZ;
}

/* The account's share of tasks and callbacks; 0 if it cannot be compared. */
static double share_of_loop(const struct model *model)
{
    const struct event_loop *loop = &model->loop;
    double wall = (double)loop->wall;
    double work = (double)loop->tasks + (double)loop->callbacks +
                  (double)loop->others - (double)loop->stolen_inside;
    double seconds;

    if (model->from != 0 || model->to != 0 || model->missing_packets > 0 ||
        loop->idle == 0 || loop->wall == 0 || model->hello.tsc_hz == 0)
        return 0;
    seconds = wall / (double)model->hello.tsc_hz;
    if (fabs(seconds - sampled_time(model)) >
        seconds / PROF_UNDER_SAMPLED_APART)
        return 0;
    return work / wall;
}

bool under_sampled(const struct model *model, char *text)
{
    double loop = share_of_loop(model), clocks = (double)model_clocks(model);
    double samples = (double)model_samples(model);
    double share, hits;
    struct interval interval;

    if (!(loop > 0) || !(clocks > 0) ||
        samples < PROF_UNDER_SAMPLED_LEAST * PROF_UNDER_SAMPLED_ONE)
        return false;
    share = 1 - (double)model->idle.clocks / clocks;
    samples /= PROF_UNDER_SAMPLED_ONE;
    hits = fmax(share, 0) * samples;
    interval = interval_share(hits, samples, interval_z(CONFIDENCE, 1));
    if (!(loop > PROF_UNDER_SAMPLED_TIMES(interval.high)))
        return false;
    snprintf(text, UNDER_SAMPLED_TEXT_MAX,
             "samples show %.2f %% outside of idle, the loop's account %.2f "
             "%s",
             100 * share, 100 * loop, PROF_UNDER_SAMPLED_TEXT);
    return true;
}
