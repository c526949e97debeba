/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Cost by distinct addresses without callers, each in a function of its own:
 * measures the drain's tables and the report. As in stacks.c, each point
 * continues with the profile of the one before.
 */

#include "growth.h"

#include <stdio.h>

#define BURST 200u
#define KNOWN 4000u
#define NOWHERE 0xa0000000u /* no function of the image is there */
#define STEP 11u
#define STRIDE 104729u /* a prime: addresses come in no order */

static uint64_t feed_new(uint32_t first, uint32_t last)
{
    uint32_t count = last - first;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count;) {
        for (uint32_t k = 0; k < BURST && i < count; k++, i++)
            made_sample(NOWHERE +
                        (first + (uint32_t)((uint64_t)i * STRIDE % count)) *
                            STEP);
        sum += growth_drain();
    }
    return sum;
}

static uint64_t feed_known(uint32_t last)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < KNOWN;) {
        for (uint32_t k = 0; k < BURST; k++, i++)
            made_sample(NOWHERE + growth_random() % last * STEP);
        sum += growth_drain();
    }
    return sum;
}

static uint64_t report_of(uint32_t rows)
{
    char option[32];

    snprintf(option, sizeof option, "prof.top=%u", (unsigned)rows);
    growth_must(prof_option(option) == 0, option);
    return growth_report();
}

static void measure(uint32_t first, uint32_t last, uint64_t heap_before)
{
    growth_emit_each("addresses_drain_new", last, feed_new(first, last),
                     last - first);
    growth_emit_each("addresses_drain_known", last, feed_known(last), KNOWN);
    growth_emit("addresses_heap", last, (growth_heap() - heap_before) * 100);
    growth_emit("report_top_12", last, report_of(12) * 100);
    if (last <= 10000)
        growth_emit("report_top_all", last, report_of(last) * 100);
}

void growth_addresses(const struct growth_points *points)
{
    uint64_t before = growth_heap(), fed = 0;
    struct prof_stats stats;
    uint32_t done = 0;

    prof_set_depth(0);
    made_begin(true);
    for (uint32_t i = 0; i < points->count; i++) {
        measure(done, points->at[i], before);
        fed += points->at[i] - done + KNOWN;
        done = points->at[i];
    }
    stats = growth_stats();
    growth_must(stats.ticks == fed && stats.unresolved == fed,
                "each sample is there");
}
