/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Compares the samples with the exact account of the event loop. Work that a
 * timer's tick starts, and that ends before the next sampling tick, is hardly
 * sampled: both ticks come from one clock.
 *
 * It must be certain. The period of the samples changes every PERIOD_TICKS
 * ticks only, and those of one period may all be in step with a program; so
 * that many count as one sample. Only time in tasks and callbacks is compared,
 * with all samples outside of idle, among them the profiler's. And the two
 * must cover the same time.
 */

#include "report/report.h"
#include "report/share.h"

#include <prof/loop_stats.h>
#include <prof/under_sampled.h>

/* prof_share_interval() takes no more hits. */
#define HITS_MAX 1000u

/* The account's share of tasks and callbacks, 1/100 %; 0 if it cannot be
 * compared. */
static uint32_t share_of_loop(const struct prof_stats *stats,
                              const struct prof_loop_account *account)
{
    uint64_t sampled =
        stats->elapsed_cycles + stats->own_cycles + stats->stolen_cycles;
    uint64_t wall = account->wall_cycles;
    uint64_t apart = wall > sampled ? wall - sampled : sampled - wall;
    uint64_t work = account->tasks_cycles + account->callbacks_cycles +
                    account->others_cycles;

    if (account->idle_cycles == 0 || apart > wall / PROF_UNDER_SAMPLED_APART ||
        work <= account->stolen_inside_cycles)
        return 0;
    return prof_share_of(work - account->stolen_inside_cycles, wall);
}

/* The upper end of the share of the program's work, 1/100 %, which is (share):
 * neither idle nor in the profiler. */
static uint32_t most_by_samples(const struct prof_stats *stats, uint32_t share)
{
    uint64_t drained = stats->ticks - stats->queued;
    uint64_t samples = drained / PROF_UNDER_SAMPLED_ONE;
    uint64_t hits =
        (drained - stats->idle - stats->own) / PROF_UNDER_SAMPLED_ONE;

    if (samples < PROF_UNDER_SAMPLED_LEAST)
        return PROF_SHARE_ALL;
    while (hits > HITS_MAX) {
        hits >>= 1;
        samples >>= 1;
    }
    if (hits == 0) {
        hits = 1;
        if (share < prof_share_of(1, samples))
            share = prof_share_of(1, samples);
    }
    return prof_share_interval(share, (uint32_t)hits, samples).high;
}

void prof_report_under_sampled(struct prof_text *out,
                               const struct prof_stats *stats)
{
    struct prof_loop_account account;
    uint64_t sampled;
    uint32_t loop, share;

    prof_loop_account(&account);
    loop = share_of_loop(stats, &account);
    sampled = stats->elapsed_cycles + stats->own_cycles;
    share = prof_share_of(stats->elapsed_cycles - stats->idle_cycles, sampled);
    if (loop <= PROF_UNDER_SAMPLED_TIMES(most_by_samples(stats, share)))
        return;
    prof_text_format(out,
                     "samples show %.2u %% outside of idle, the loop's account "
                     "%.2u %s\n",
                     share, loop, PROF_UNDER_SAMPLED_TEXT);
}
