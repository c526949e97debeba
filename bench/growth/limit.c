/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Out of memory: more distinct stacks than the heap can hold, and then known
 * stacks again. Every sample must be in one account, and known stacks should
 * still be counted.
 */

#include "growth.h"

#include <arch/boot.h>

#define BURST 200u
#define KNOWN 20000u

/* Chains that share nothing: caller (number), spread over the whole code. */
static void feed(uint32_t number)
{
    uint32_t bytes = (uint32_t)(text_end - text_begin) - 256;

    made_caller(2, (uintptr_t)text_begin + 64 + number % bytes);
    made_caller(1, (uintptr_t)text_begin + 64 + number / 2 % bytes);
    made_caller(0, made_place(number % 7));
    made_sample(made_place(200 + number % 5));
}

static void feed_all(uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count;) {
        for (uint32_t k = 0; k < BURST && i < count; k++, i++)
            feed(first + i);
        growth_drain();
    }
}

static void emit_kept(const char *name, uint32_t x,
                      const struct prof_stats *before, uint64_t fed)
{
    struct prof_stats now = growth_stats();
    uint64_t kept = now.attributed + now.masked + now.unresolved -
                    (before->attributed + before->masked + before->unresolved);

    growth_must(now.ticks == before->ticks + fed, "the accounts");
    growth_emit_each(name, x, kept * 100, fed);
}

void growth_limit(const struct growth_points *points)
{
    uint32_t stacks = points->at[points->count - 1];
    struct prof_stats before = {0};

    made_begin(true);
    made_callers(3);
    feed_all(0, stacks);
    emit_kept("limit_new_kept", stacks, &before, stacks);
    before = growth_stats();
    growth_must(before.refusals != 0, "memory should have been refused");
    growth_emit("limit_heap", stacks, growth_heap() * 100);
    growth_emit("limit_nodes", stacks, before.stacks * 100ull);
    for (uint32_t i = 0; i < KNOWN / BURST; i++)
        feed_all(0, BURST);
    emit_kept("limit_known_kept", stacks, &before, KNOWN);
}
