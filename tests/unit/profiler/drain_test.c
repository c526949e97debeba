/* SPDX-License-Identifier: Apache-2.0 */

/* From the vector to the map: every sample once, with its time, whatever
 * fails on the way. */

#include "../unit.h"

#include "aggregate/drain.h"
#include "aggregate/stacks.h"
#include "stream/stream.h"
#include "profiler_world.h"
#include "stream_checker.h"

/* What must hold at any time: each tick is in one account. */
static void assert_accounts(uint64_t ticks, uint64_t cycles)
{
    struct prof_stats stats = world_stats();

    assert_int_equal(stats.ticks, ticks);
    assert_int_equal(stats.attributed + stats.masked + stats.idle +
                         stats.unresolved + stats.dropped + stats.queued,
                     ticks);
    if (stats.queued == 0)
        assert_int_equal(stats.elapsed_cycles, cycles);
}

FIXTURE(world_small, world_end);

TEST(each_sample_is_counted_with_its_time)
{
    uint64_t tsc = 0;

    for (int i = 0; i < 50; i++)
        world_tick(i % 2 == 0 ? 0x1000 : 0x2000,
                   tsc += i % 2 == 0 ? WORLD_PERIOD : WORLD_PERIOD + 7);
    prof_drain();
    assert_accounts(50, tsc);
    assert_int_equal(world_drained(0x1000).samples, 25);
    assert_int_equal(world_drained(0x1000).cycles, 25 * WORLD_PERIOD);
    assert_int_equal(world_drained(0x2000).cycles, 25 * (WORLD_PERIOD + 7));
    assert_int_equal(world_stats().missed, 0);
}

TEST(idle_is_counted_apart)
{
    world_tick(0x8fff, WORLD_PERIOD);
    world_tick(0x9000, 2 * WORLD_PERIOD);
    world_tick(0x900f, 3 * WORLD_PERIOD);
    world_tick(0x9010, 4 * WORLD_PERIOD);
    prof_drain();
    assert_int_equal(world_stats().idle, 2);
    assert_int_equal(world_stats().unresolved, 2);
    assert_int_equal(world_stats().addresses, 2);
    assert_accounts(4, 4 * WORLD_PERIOD);
}

TEST(a_full_vector_adds_up_in_the_small_table)
{
    uint64_t tsc = 0;

    for (int i = 0; i < 1000; i++)
        world_tick((uintptr_t)0x1000 + (uintptr_t)(i % 5) * 64,
                   tsc += WORLD_PERIOD);
    assert_int_equal(world_stats().queued, 1000);
    prof_drain();
    assert_accounts(1000, tsc);
    assert_int_equal(world_stats().dropped, 0);
    assert_int_equal(world_stats().overflowed, 1000 - 63);
    for (uintptr_t i = 0; i < 5; i++)
        assert_int_equal(world_drained(0x1000 + i * 64).samples, 200);
}

TEST(what_fits_nowhere_is_counted_as_dropped)
{
    uint64_t tsc = 0;

    for (uintptr_t i = 0; i < 5000; i++)
        world_tick(0x1000 + i * 16, tsc += WORLD_PERIOD);
    prof_drain();
    assert_true(world_stats().dropped > 4000);
    assert_accounts(5000, tsc);
}

TEST(it_works_again_after_an_overflow)
{
    uint64_t tsc = 0;
    struct prof_stats before;

    for (int turn = 0; turn < 10; turn++) {
        for (uintptr_t i = 0; i < 700; i++)
            world_tick(0x1000 + i * 16, tsc += WORLD_PERIOD);
        prof_drain();
    }
    assert_accounts(7000, tsc);
    before = world_stats();
    for (int i = 0; i < 60; i++)
        world_tick(0x77, tsc += WORLD_PERIOD);
    prof_drain();
    assert_int_equal(world_drained(0x77).samples, 60);
    assert_int_equal(world_stats().dropped, before.dropped);
    assert_int_equal(world_stats().overflowed, before.overflowed);
    assert_accounts(7060, tsc);
}

/* One run with the allocations from number (from) on refused (count) times. */
static void run_with_refusals(int from, int refusals)
{
    uint64_t tsc = 0;

    world_new(PROF_MEMORY_DEFAULT / 2);
    world_refuse_from = from;
    world_refuse_count = refusals;
    for (uintptr_t turn = 0; turn < 40; turn++) {
        for (uintptr_t i = 0; i < 100; i++)
            world_tick(0x100000 + (turn * 50 + i) * 16, tsc += WORLD_PERIOD);
        prof_drain();
        assert_accounts((turn + 1) * 100, tsc);
    }
    world_refuse_from = -1;
    prof_drain();
    prof_drain();
    assert_accounts(4000, tsc);
    assert_int_equal(world_stats().queued, 0);
    if (refusals <= 1)
        assert_int_equal(world_stats().dropped, 0);
    world_end();
    assert_int_equal(world_live, 0);
}

TEST(refused_memory_at_each_call_loses_nothing)
{
    int allocations;

    run_with_refusals(-1, 0);
    allocations = world_allocations;
    assert_true(allocations >= 8);
    for (int from = 0; from < allocations; from++) {
        run_with_refusals(from, 1);
        run_with_refusals(from, 3);
    }
}

TEST(refused_memory_for_good_is_counted)
{
    for (int from = 0; from < 8; from++)
        run_with_refusals(from, 1000000);
}

TEST(a_hundred_thousand_addresses_are_kept_apart)
{
    uint64_t tsc = 0;

    world_new(PROF_MEMORY_DEFAULT);
    for (uintptr_t i = 0; i < 300000; i++) {
        world_tick(0x100000 + i % 100000 * 3, tsc += WORLD_PERIOD);
        if (i % 500 == 499)
            prof_drain();
    }
    assert_int_equal(world_stats().addresses, 100000);
    assert_int_equal(world_stats().dropped, 0);
    for (uintptr_t i = 0; i < 100000; i += 99)
        assert_int_equal(world_drained(0x100000 + i * 3).samples, 3);
    assert_accounts(300000, tsc);
}

TEST(a_pause_belongs_to_no_sample)
{
    world_tick(0x1000, WORLD_PERIOD);
    prof_timebase_resume(prof_clock_of(prof_cpu_here()), 50 * WORLD_PERIOD);
    world_tick(0x1000, 51 * WORLD_PERIOD);
    prof_drain();
    assert_accounts(2, 2 * WORLD_PERIOD);
    assert_int_equal(world_stats().missed, 0);
}

TEST(a_reset_forgets_also_what_is_queued)
{
    uint64_t tsc = 0;

    for (uintptr_t i = 0; i < 3000; i++)
        world_tick(0x1000 + i * 16, tsc += WORLD_PERIOD);
    prof_reset();
    assert_accounts(0, 0);
    world_tick(0x1000, tsc += WORLD_PERIOD);
    prof_drain();
    assert_accounts(1, WORLD_PERIOD);
}

static bool take_any(const void *packet, size_t bytes)
{
    (void)packet;
    (void)bytes;
    return true;
}

/* Two resets forget (ticks) ticks each, of which the stream has not got
 * (discarded). */
static void assert_resets_tell(uint64_t ticks, bool memory_refused,
                               uint64_t discarded)
{
    static const struct prof_transport sink = {.name = "sink",
                                               .send = take_any};
    uint64_t tsc = 0;

    world_small();
    prof_transport_use(&sink);
    if (memory_refused) {
        world_refuse_from = 0;
        world_refuse_count = 1000;
    }
    for (uintptr_t turn = 0; turn < 2; turn++) {
        for (uintptr_t i = 0; i < ticks; i++)
            world_tick(0x1000 + i * 16, tsc += WORLD_PERIOD);
        prof_reset();
        assert_accounts(0, 0);
    }
    assert_int_equal(world_stats().forgotten, 2 * ticks);
    assert_int_equal(world_stats().stream_discarded, discarded);
    prof_transport_use(NULL);
    world_end();
}

TEST(a_reset_flushes_the_stream_first)
{
    assert_resets_tell(20, false, 0);
    assert_resets_tell(20, true, 40);
}

/* Also what the drain itself has dropped, as there was no memory for it. */
TEST(a_reset_counts_what_was_dropped)
{
    uint64_t tsc = 0;

    world_refuse_from = 0;
    world_refuse_count = INT32_MAX;
    for (uintptr_t i = 0; i < 3000; i++) {
        world_tick(0x1000 + i * 16, tsc += WORLD_PERIOD);
        if (i % 100 == 99)
            prof_drain();
    }
    assert_true(prof_accounts_of(prof_cpu_here())->no_memory.samples > 0);
    assert_accounts(3000, tsc);
    prof_reset();
    assert_accounts(0, 0);
    assert_int_equal(world_stats().forgotten, 3000);
}

TEST(nothing_is_allocated_before_the_drain)
{
    for (uintptr_t i = 0; i < 3000; i++)
        world_tick(0x1000 + i * 16, (i + 1) * WORLD_PERIOD);
    assert_int_equal(world_allocations, 0);
}

TEST(memory_too_small_or_crooked_is_refused)
{
    static _Alignas(16) char memory[PROF_MEMORY_DEFAULT];
    struct prof_config config = {
        .tsc_hz = WORLD_TSC_HZ,
        .tick = {.kind = PROF_TICK_PIT, .kernel_divisor = 11932, .vector = 32}};

    prof_control_forget();
    assert_int_equal(prof_init(NULL, sizeof memory, &config), PROF_EMEMORY);
    assert_int_equal(prof_init(memory, 100, &config), PROF_EMEMORY);
    assert_int_equal(prof_init(memory + 1, sizeof memory - 1, &config),
                     PROF_EMEMORY);
    config.tick.kernel_divisor = 0;
    assert_int_equal(prof_init(memory, sizeof memory, &config), PROF_ECONFIG);
    config.tick.kernel_divisor = 11932;
    config.tsc_hz = 1ull << 36;
    assert_int_equal(prof_init(memory, sizeof memory, &config), PROF_ECONFIG);
    assert_int_equal(prof_start(), PROF_ESTATE);
    config.tsc_hz = WORLD_TSC_HZ;
    assert_int_equal(prof_init(memory, sizeof memory, &config), 0);
    assert_int_equal(prof_init(memory, sizeof memory, &config), PROF_ESTATE);
}

/* Where lookups begin, the name being printed, and the demangler's work. */
#define FOR_NAMES ((2 + 2 + 4 + 8) * 1024 + 512)

/* The stack that was looked up last, four tables, and what the rooms know. */
#define FOR_STATE (1056 + 4 * sizeof(struct prof_table) + 1536)

TEST(everything_fits_into_64_kib)
{
    assert_true(PROF_MEMORY_DEFAULT + sizeof prof_cpus + FOR_STATE +
                    sizeof(struct prof_options) + FOR_NAMES <=
                64 * 1024);
}
