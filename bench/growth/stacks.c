/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Cost by the number of distinct call stacks. Each has ten callers: the outer
 * six are always the same, the others and the sampled address are one of
 * sixteen, so a new stack adds one node or a few.
 *
 * Each point continues with the profile of the one before, because a profile
 * only grows.
 */

#include "growth.h"

#include <kernel/service.h>

#define BURST 200u /* samples between drains: both vectors hold them */
#define CALLERS 10u
#define WAYS 16u
#define KNOWN 4000u
#define STRIDE 104729u /* a prime: stacks come in no order */

/* Stack (number): its digits, innermost first, choose pc and four callers. */
static void feed_stack(uint32_t number)
{
    uintptr_t pc = made_place(number % WAYS);

    for (uint32_t level = 0; level < 4; level++) {
        number /= WAYS;
        made_caller(level, made_place((level + 1) * WAYS + number % WAYS));
    }
    made_sample(pc);
}

/* Feeds (count) stacks, the first of (all) that (choose) names, and drains.
 * Returns instructions. */
static uint64_t feed(uint32_t (*choose)(uint32_t i, uint32_t first,
                                        uint32_t last),
                     uint32_t count, uint32_t first, uint32_t last)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count;) {
        for (uint32_t k = 0; k < BURST && i < count; k++, i++)
            feed_stack(choose(i, first, last));
        sum += growth_drain();
    }
    return sum;
}

/* Each of [first, last) once. */
static uint32_t choose_new(uint32_t i, uint32_t first, uint32_t last)
{
    return first + (uint32_t)((uint64_t)i * STRIDE % (last - first));
}

static uint32_t choose_known(uint32_t i, uint32_t first, uint32_t last)
{
    (void)i;
    return first + growth_random() % (last - first);
}

/* What there is with (last) stacks, after (first) of them. */
static void measure(uint32_t first, uint32_t last)
{
    uint64_t bytes = made_stream_bytes();
    uint64_t sum = feed(choose_new, last - first, first, last);

    growth_emit_each("stacks_drain_new", last, sum, last - first);
    growth_emit("stacks_drain_longest", last, growth_longest_drain * 100);
    growth_emit_each("stacks_stream_new", last, made_stream_bytes() - bytes,
                     last - first);
    bytes = made_stream_bytes();
    sum = feed(choose_known, KNOWN, 0, last);
    growth_emit_each("stacks_drain_known", last, sum, KNOWN);
    growth_emit_each("stacks_stream_known", last, made_stream_bytes() - bytes,
                     KNOWN);
}

static void emit_memory(uint32_t stacks, uint64_t before)
{
    growth_emit("stacks_heap", stacks, (growth_heap() - before) * 100);
    growth_emit("stacks_ram", stacks, (uint64_t)service_heap_bytes() * 100);
    growth_emit("stacks_report", stacks, growth_report() * 100);
}

/* No memory for more: every sample is in one account all the same. */
static void check_accounts(uint64_t fed)
{
    struct prof_stats stats = growth_stats();

    growth_must(stats.ticks == fed && stats.idle == 0, "the accounts");
    growth_emit("stacks_lost", (uint32_t)fed,
                (stats.dropped + stats.queued) * 100);
    growth_emit("stacks_refusals", (uint32_t)fed, stats.refusals * 100ull);
}

static void begin(bool stream)
{
    made_begin(stream);
    made_callers(CALLERS);
    for (uint32_t i = 4; i < CALLERS; i++)
        made_caller(i, made_place(5 * WAYS + i));
}

void growth_stacks(const struct growth_points *points)
{
    uint64_t before = growth_heap(), fed = 0;
    uint32_t done = 0;

    begin(true);
    for (uint32_t i = 0; i < points->count; i++) {
        measure(done, points->at[i]);
        fed += points->at[i] - done + KNOWN;
        done = points->at[i];
        emit_memory(done, before);
    }
    check_accounts(fed);
}

/* The drain alone, without a stream. */
void growth_quiet_stacks(const struct growth_points *points)
{
    uint32_t done = 0;

    begin(false);
    for (uint32_t i = 0; i < points->count; i++) {
        uint32_t x = points->at[i];

        growth_emit_each("quiet_drain_new", x,
                         feed(choose_new, x - done, done, x), x - done);
        growth_emit_each("quiet_drain_known", x,
                         feed(choose_known, KNOWN, 0, x), KNOWN);
        done = x;
    }
}
