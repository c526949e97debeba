/* SPDX-License-Identifier: Apache-2.0 */

/* Time that the host took is in an account of its own, and in no sample. */

#include "../unit.h"

#include "profiler_world.h"

#define VECTOR 63u /* samples that fit into it */
#define SLICE 40u  /* periods that the host takes */

/* (stolen) periods of the (whole) ones are stolen, the rest is covered. */
static void assert_stolen(uint64_t whole, uint64_t stolen)
{
    assert_int_equal(world_stats().stolen_cycles, stolen * WORLD_PERIOD);
    assert_int_equal(world_stats().elapsed_cycles,
                     (whole - stolen) * WORLD_PERIOD);
}

FIXTURE(world_small, world_end);

TEST(a_sample_is_charged_one_period)
{
    for (uint64_t i = 1; i <= 10; i++)
        world_tick(0x1000, i * WORLD_PERIOD);
    world_tick(0x2000, (10 + SLICE) * WORLD_PERIOD);
    prof_drain();
    assert_int_equal(world_drained(0x1000).cycles, 10 * WORLD_PERIOD);
    assert_int_equal(world_drained(0x2000).cycles, WORLD_PERIOD);
    assert_int_equal(world_stats().missed, SLICE - 1);
    assert_stolen(10 + SLICE, SLICE - 1);
}

TEST(so_is_an_idle_one)
{
    world_tick(0x9000, WORLD_PERIOD);
    world_tick(0x9000, (1 + SLICE) * WORLD_PERIOD);
    prof_drain();
    assert_int_equal(world_stats().idle_cycles, 2 * WORLD_PERIOD);
    assert_stolen(1 + SLICE, SLICE - 1);
}

/* A tick that is late by less than half a period was not lost. */
TEST(a_late_tick_keeps_its_time)
{
    world_tick(0x1000, WORLD_PERIOD);
    world_tick(0x2000, 2 * WORLD_PERIOD + WORLD_PERIOD * 2 / 5);
    world_tick(0x1000, 3 * WORLD_PERIOD);
    prof_drain();
    assert_int_equal(world_drained(0x2000).cycles,
                     WORLD_PERIOD + WORLD_PERIOD * 2 / 5);
    assert_stolen(3, 0);
}

/* Fills the vector, then (ticks) more, of which number (slice) comes late; the
 * address of tick i is 0x1000 + i % (addresses) * 16. Returns the periods. */
static uint64_t overflow(uintptr_t ticks, uintptr_t slice, uintptr_t addresses)
{
    uint64_t now = 0;

    for (uintptr_t i = 0; i < VECTOR; i++)
        world_tick(0x1000, ++now * WORLD_PERIOD);
    for (uintptr_t i = 0; i < ticks; i++) {
        now += i == slice ? SLICE : 1;
        world_tick(0x1000 + i % addresses * 16, now * WORLD_PERIOD);
    }
    return now;
}

TEST(the_overflow_table_is_charged_alike)
{
    uint64_t whole;

    whole = overflow(100, 51, 2);
    prof_drain();
    assert_int_equal(world_stats().overflowed, 100);
    assert_int_equal(world_drained(0x1010).cycles, 50 * WORLD_PERIOD);
    assert_int_equal(world_stats().missed, SLICE - 1);
    assert_stolen(whole, SLICE - 1);
}

TEST(so_are_dropped_samples)
{
    uint64_t whole;

    whole = overflow(3000, 2000, 3000);
    prof_drain();
    assert_true(world_stats().dropped > 2000);
    assert_int_equal(world_stats().dropped_cycles,
                     world_stats().dropped * WORLD_PERIOD);
    assert_stolen(whole, SLICE - 1);
}

TEST(the_report_shows_it_besides_the_shares)
{
    world_tick(0x1000, WORLD_PERIOD);
    world_tick(0x2000, (1 + SLICE) * WORLD_PERIOD);
    world_tick(0x3000, (2 + SLICE) * WORLD_PERIOD);
    world_tick(0x4000, (3 + SLICE) * WORLD_PERIOD);
    prof_report();
    assert_non_null(strstr(world_output, " 25.00 %"));
    assert_non_null(strstr(world_output, "\n0.038 s stolen, 90.70 % of the "
                                         "time: the host did not run the "
                                         "guest; it is in no share\n"));
}
