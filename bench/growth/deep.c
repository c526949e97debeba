/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Cost of stacks in the drain, the heap and the stream, by depth. One point per
 * boot, so that no depth finds the stacks of another.
 */

#include "growth.h"

#include <arch/boot.h>
#include <prof/format.h>

#define BURST 20u   /* samples between drains: their frames fit */
#define STACKS 100u /* distinct ones; more than these take wider forms */
#define KNOWN 4000u /* samples of these, in turns */

/* Stack (number): an outermost caller of its own, so that all nodes are. */
static void feed(uint32_t depth, uint32_t number)
{
    uintptr_t begin = (uintptr_t)text_begin + 64;

    made_caller(depth - 1, begin + number * 3);
    made_sample(made_place(0));
}

/* (count) samples of (stacks) stacks in turns; instructions to drain them. */
static uint64_t feed_all(uint32_t depth, uint32_t count, uint32_t stacks)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count;) {
        for (uint32_t k = 0; k < BURST && i < count; k++, i++)
            feed(depth, i % stacks);
        sum += growth_drain();
    }
    return sum;
}

/* Samples stay queued until the rate of their source is known, and so many deep
 * stacks have no room. */
static void learn_rate(void)
{
    made_callers(0);
    do {
        made_sample(made_place(0));
        (void)growth_drain();
    } while (growth_stats().queued != 0);
}

static void measure(uint32_t depth)
{
    uint64_t heap, bytes;

    growth_must(prof_set_depth(depth) == 0, "the depth");
    made_begin(true);
    learn_rate();
    heap = growth_heap();
    made_callers(depth);
    for (uint32_t level = 0; level + 1 < depth; level++)
        made_caller(level, made_place(level + 1));
    growth_emit_each("depth_drain_new", depth, feed_all(depth, STACKS, STACKS),
                     STACKS);
    growth_emit("depth_heap", depth, (growth_heap() - heap) * 100 / STACKS);
    bytes = made_flushed();
    growth_emit_each("depth_stream_new", depth, bytes, STACKS);
    growth_emit_each("depth_drain_known", depth, feed_all(depth, KNOWN, STACKS),
                     KNOWN);
    bytes = made_flushed();
    growth_emit_each("depth_drain_same", depth, feed_all(depth, KNOWN, 1),
                     KNOWN);
    growth_emit_each("depth_stream_same", depth, made_flushed() - bytes, KNOWN);
    growth_must(growth_stats().stopped[PROF_WALK_ROOM] == 0,
                "room for all frames");
}

void growth_deep(const struct growth_points *points)
{
    growth_must(points->count == 1, "one point");
    measure(points->at[0]);
}
