/* SPDX-License-Identifier: Apache-2.0 */

/* A reset leaves every count as prof_init() does, and loses no tick. */

#include "../unit.h"

#include "profiler_world.h"

#include "tick/watchdog.h"

#define CALLER 0x2001u

/* A tick with a caller, whose walk ended because of the depth. */
static void tick_with_caller(uintptr_t pc, uint64_t tsc)
{
    struct prof_frames *frames = &prof_cpus[0].frames;
    uint32_t words = PROF_FRAMES_HEAD + 1;
    uint32_t *to = frames->words + (frames->head & frames->mask);

    prof_cpus[0].ticks++;
    memset(to, 0, words * sizeof *to);
    to[PROF_FRAMES_HEAD] = CALLER;
    frames->head += words;
    prof_ring_push(&prof_cpus[0].ring, pc, tsc,
                   words | PROF_WALK_DEPTH << PROF_WALK_STOP_SHIFT);
}

/* Something of everything that is counted here. Returns the last tick's
 * time. */
static uint64_t run(uint64_t tsc)
{
    world_refuse_from = world_allocations + 2;
    world_refuse_count = 1;
    for (uintptr_t i = 0; i < 8; i++)
        tick_with_caller(0x1000 + i, tsc += WORLD_PERIOD);
    world_tick(0x9000, tsc += WORLD_PERIOD); /* idle */
    world_tick(0x3000, tsc += 5 * WORLD_PERIOD);
    prof_drain();
    world_refuse_from = -1;
    prof_drain();
    for (uintptr_t i = 0; i < 900; i++)
        world_tick(0x5000 + i, tsc += WORLD_PERIOD);
    prof_drain();
    world_tick(0x3000, tsc += WORLD_PERIOD);
    prof_tick_count_gate();
    prof_tick_count_pit();
    prof_report();
    world_tick(0x3000, tsc += WORLD_PERIOD);
    prof_cpus[0].interrupt_cycles += 1000;
    return tsc;
}

/* Without what is measured in real time, and what resets do not concern. */
static struct prof_stats counts_now(void)
{
    struct prof_stats stats;

    prof_stats(&stats);
    assert_int_equal(stats.ticks, stats.attributed + stats.masked + stats.idle +
                                      stats.unresolved + stats.dropped +
                                      stats.queued);
    stats.drain_cycles = stats.report_cycles = 0;
    stats.stacks = 0;
    stats.forgotten = 0;
    return stats;
}

FIXTURE(world_small, world_end);

TEST(a_reset_leaves_no_count)
{
    static const struct prof_stats none;
    struct prof_stats stats;
    uint64_t ticks;

    (void)run(0);
    prof_stats(&stats);
    ticks = stats.ticks;
    assert_int_equal(ticks, 912);
    prof_reset();
    prof_stats(&stats);
    assert_int_equal(stats.forgotten, ticks);
    assert_true(stats.stacks > 1);
    assert_int_equal(stats.report_cycles, 0);
    stats = counts_now();
    assert_memory_equal(&stats, &none, sizeof stats);
}

/* Whatever counts for the first time counts after a reset, too, and as much:
 * but for memory, which is there by then. */
TEST(after_a_reset_all_counts_as_at_first)
{
    struct prof_stats first, again;
    uint64_t tsc;

    tsc = run(0);
    first = counts_now();
    assert_true(
        first.idle != 0 && first.unresolved != 0 && first.dropped != 0 &&
        first.queued != 0 && first.missed != 0 && first.overflowed != 0 &&
        first.stolen_cycles != 0 && first.stopped[PROF_WALK_DEPTH] != 0 &&
        first.refusals != 0 && first.interrupt_cycles != 0 &&
        first.tick.gate_taken_back != 0 && first.tick.pit_taken_back != 0 &&
        first.addresses != 0 && first.functions != 0);
    prof_reset();
    (void)run(tsc);
    again = counts_now();
    assert_int_equal(again.refusals, 0);
    again.refusals = first.refusals;
    assert_memory_equal(&again, &first, sizeof again);
}

/* Resets at any moment: each tick is either counted now or forgotten. */
TEST(resets_lose_no_tick)
{
    struct prof_stats stats;
    uint64_t tsc = 0, ticks = 0;

    for (uintptr_t i = 0; i < 3000; i++) {
        world_tick(0x1000 + i % 700, tsc += WORLD_PERIOD);
        ticks++;
        if (i % 37 == 0)
            prof_drain();
        if (i % 101 == 0)
            prof_reset();
        prof_stats(&stats);
        assert_int_equal(stats.ticks + stats.forgotten, ticks);
        assert_int_equal(stats.ticks, counts_now().ticks);
    }
}
