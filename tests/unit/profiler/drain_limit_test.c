/* SPDX-License-Identifier: Apache-2.0 */

/* A drain does only so much, and leaves the rest to the next: nothing is lost
 * by that, and what must be drained whole is. */

#include "../unit.h"

#include "profiler_world.h"

#include "aggregate/drain.h"

#define CALLERS 64u
#define SAMPLES 500u
#define STACKS_MAX                                                             \
    900u /* new ones in a drain: half a millisecond and a sample */
#define KNOWN 3500u
#define KNOWN_MAX 1000u
#define MEMORY (1u << 20)
#define CROWD 1500u /* samples that fill more than half of the vector */
#define CROWD_LEFT 1200u
#define NO_MEMORY (1 << 30)

static uint64_t tsc;

/* (count) samples of stacks that share nothing with another. */
static void feed_new(uint32_t first, uint32_t count)
{
    uintptr_t words[CALLERS];

    for (uint32_t i = first; i < first + count; i++) {
        for (uint32_t level = 0; level < CALLERS; level++)
            words[level] = 0x3000 + level * 16;
        words[CALLERS - 1] = 0x100000 + i * 16;
        tick(0x1500, tsc += WORLD_PERIOD, words, CALLERS);
    }
}

static uint64_t queued(void)
{
    struct prof_stats stats;

    prof_stats(&stats);
    return stats.queued;
}

static void assert_all_are_counted(uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t stack = *prof_stack_slot(0, 0x100000 + i * 16);

        for (uint32_t level = CALLERS - 1; level-- > 0;)
            stack = *prof_stack_slot(stack, 0x3000 + level * 16);
        stack = *prof_stack_slot(stack, 0x1500);
        assert_int_not_equal(stack, 0);
        assert_int_equal(prof_stack_at(stack)->self.samples, 1);
    }
}

static void begin(void)
{
    world_new(MEMORY);
}

FIXTURE(begin, world_end);

TEST(new_stacks_are_drained_in_portions)
{
    uint32_t drains = 0;

    tsc = 0;
    feed_new(0, SAMPLES);
    while (queued() != 0) {
        uint32_t stacks = prof_stacks.used;
        uint64_t before = queued();

        prof_drain();
        drains++;
        assert_in_range(prof_stacks.used - stacks, 1, STACKS_MAX);
        assert_in_range(queued(), 0, before - 1);
        if (queued() != 0)
            assert_int_equal(prof_drain_ms(), 1);
    }
    assert_in_range(drains, SAMPLES * CALLERS / STACKS_MAX, SAMPLES);
    prof_drain();
    assert_true(prof_drain_ms() > 1);
    assert_all_are_counted(0, SAMPLES);
}

TEST(so_are_many_known_ones)
{
    tsc = 0;
    for (uint32_t i = 0; i < KNOWN; i++)
        world_tick(0x1500, tsc += WORLD_PERIOD);
    for (uint32_t left = KNOWN; left > 0;) {
        assert_int_equal(queued(), left);
        prof_drain();
        left = left > KNOWN_MAX ? left - KNOWN_MAX : 0;
    }
    assert_int_equal(queued(), 0);
    assert_int_equal(world_drained(0x1500).samples, KNOWN);
}

/* Also where the samples come in portions, after which more wait. */
TEST(before_a_change_everything_is_drained)
{
    tsc = 0;
    feed_new(0, SAMPLES);
    prof_report();
    assert_int_equal(queued(), 0);
    feed_new(SAMPLES, SAMPLES);
    prof_drain();
    assert_int_not_equal(queued(), 0);
    prof_stop();
    assert_int_equal(queued(), 0);
    assert_all_are_counted(0, 2 * SAMPLES);
}

/* In the interrupt, too, where a portion has less work than there are words of
 * one sample's callers, and without memory, so that none can be noted. */
TEST(the_smallest_portion_gets_on)
{
    uint64_t left;

    tsc = 0;
    world_refuse_from = 0;
    world_refuse_count = NO_MEMORY;
    feed_new(0, CROWD);
    for (left = queued(); left > CROWD_LEFT; left = queued()) {
        assert_true(prof_drain_in_tick(1));
        assert_in_range(queued(), 0, left - 1);
    }
}
