/* SPDX-License-Identifier: Apache-2.0 */

#include "loop_sites.h"

#include <kernel/clock.h>

const struct loop_histogram loop_histograms[PROF_LOOP_MEASURES] = {
    {PROF_LOOP_RUN, "parasite_loop_run_seconds",
     "How long tasks held the loop without a pause."},
    {PROF_LOOP_DELAY, "parasite_loop_delay_seconds",
     "From the wake of a task until it ran."},
    {PROF_LOOP_WALL, "parasite_loop_lifetime_seconds",
     "From the creation of a task to its end."},
    {PROF_LOOP_SELF, "parasite_loop_call_seconds",
     "How long a task held the loop in all its runs together."},
};

unsigned loop_histogram_count(void)
{
    return prof_loop_has_calls() ? PROF_LOOP_MEASURES : PROF_LOOP_SELF;
}

const uint64_t loop_bounds_ns[LOOP_BOUNDS] = {
    1000,      3000,      10000,      30000,      100000,
    300000,    1000000,   3000000,    10000000,   30000000,
    100000000, 300000000, 1000000000, 3000000000, 10000000000,
};

static void on_row(const struct prof_loop_row *row, void *context)
{
    struct loop_sites *sites = context;

    /* idle time holds the loop from nobody: it is a part of the account; nor
     * do futures */
    if (row->kind == PROF_LOOP_IDLE || row->kind == PROF_LOOP_FUTURES)
        return;
    if (row->self_cycles == 0 && row->calls == 0 && row->pending == 0)
        return;
    ranking_take(&sites->ranking, row->self_cycles, sites->row, row,
                 sizeof *row);
}

void loop_sites_take(struct loop_sites *sites)
{
    sites->ranking.count = 0;
    prof_loop_visit(on_row, sites);
}

static uint64_t cycles_of(uint64_t ns)
{
    uint64_t hz = clock_tsc_hz();

    return ns / NS_PER_S * hz + ns % NS_PER_S * hz / NS_PER_S;
}

/* A range counts where its highest value is within the bound, so that no value
 * is in a bucket that it exceeds. */
static void on_range(uint64_t low, uint64_t high, uint64_t count, void *context)
{
    struct loop_buckets *buckets = context;

    (void)low;
    for (unsigned i = 0; i < LOOP_BOUNDS; i++)
        if (high - 1 <= buckets->limit[i])
            buckets->values[i] += count;
}

void loop_buckets_take(struct loop_buckets *buckets,
                       const struct prof_loop_row *row,
                       enum prof_loop_measure measure)
{
    for (unsigned i = 0; i < LOOP_BOUNDS; i++) {
        buckets->limit[i] = cycles_of(loop_bounds_ns[i]);
        buckets->values[i] = 0;
    }
    prof_loop_buckets(row->number, measure, on_range, buckets);
}
