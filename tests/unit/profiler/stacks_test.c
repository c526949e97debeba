/* SPDX-License-Identifier: Apache-2.0 */

/* From frame vector to trees: each chain once, whatever the heap says, and
 * what reports make of them. */

#include "../unit.h"

#include "aggregate/sums.h"
#include "profiler_world.h"

#include <prof/format.h>
#include <prof/symbols.h>

#define TEXT 0x1000u /* where the world's code begins */

/* Sums of all rows that prof_visit_stacks() passes. */
struct sums {
    uint64_t samples, cycles;
    uint32_t stacks;
    uint64_t check; /* over all addresses and counts */
};

static void add_up(const struct prof_stack_row *row, void *context)
{
    struct sums *sums = context;
    uint64_t check = row->samples;

    for (uint32_t i = 0; i < row->count; i++)
        check = check * 1000003 + row->addresses[i];
    sums->check += check;
    sums->samples += row->samples;
    sums->cycles += row->cycles;
    sums->stacks++;
}

/* What all samples of the function at (address) weigh, callers included. */
static uint64_t total_of(uintptr_t address)
{
    (void)prof_sums();
    for (uint32_t i = 1; i < prof_functions.used; i++)
        if (prof_function_at(i)->record.key == address)
            return prof_function_at(i)->total;
    return 0;
}

static struct sums sums_now(void)
{
    struct sums sums = {0};

    prof_visit_stacks(add_up, &sums);
    return sums;
}

FIXTURE(NULL, world_end);

TEST(each_stack_is_kept_once)
{
    const uintptr_t one[] = {0x2001, 0x3001}, two[] = {0x2001, 0x3002};
    uint64_t tsc = 0;

    world_new(WORLD_MEMORY(500));
    for (int i = 0; i < 30; i++)
        tick(0x1500, tsc += WORLD_PERIOD, i % 3 == 0 ? one : two, 2);
    prof_drain();
    assert_int_equal(sums_now().stacks, 2);
    assert_int_equal(sums_now().samples, 30);
    assert_int_equal(sums_now().cycles, tsc);
    /* root, two outer callers, two calls by them, two leaves */
    assert_int_equal(prof_stacks.used, 7);
}

/* Adds a row that prof_visit() passes to the sums. */
static void add_functions(const struct prof_row *row, void *context)
{
    struct sums *sums = context;

    sums->samples += row->samples;
    sums->cycles += row->cycles;
}

static void find_alone(const struct prof_stack_row *row, void *context)
{
    if (row->count == 1 && row->addresses[0] == 0x1500)
        *(struct prof_stack_row *)context = *row;
}

/* Samples without callers take a short way, among others at the same address
 * with callers, before and after they were looked at. */
TEST(samples_without_callers_count_as_all_others)
{
    const uintptr_t caller[] = {0x2001};
    struct prof_stack_row row = {0};
    struct sums functions;
    uint64_t tsc = 0;

    world_new(WORLD_MEMORY(500));
    for (unsigned turn = 1; turn <= 3; turn++) {
        for (unsigned i = 0; i < 40; i++)
            tick(i % 4 == 3 ? 0x1600 : 0x1500, tsc += WORLD_PERIOD, caller,
                 i % 10 == 0);
        for (unsigned i = 0; i < 4; i++)
            world_tick(0x1500, tsc += WORLD_PERIOD);
        prof_drain();
        functions = (struct sums){0};
        prof_visit(add_functions, &functions);
        prof_visit_stacks(find_alone, &row);
        assert_int_equal(functions.samples, turn * 44);
        assert_int_equal(functions.cycles, tsc);
        assert_int_equal(sums_now().samples, turn * 44);
        assert_int_equal(sums_now().cycles, tsc);
        assert_int_equal(sums_now().stacks, 3);
        assert_int_equal(row.samples, turn * 30);
        assert_int_equal(row.last_tsc, tsc);
        assert_int_equal(total_of(0x1500) + total_of(0x1600), tsc);
    }
    prof_reset();
    world_tick(0x1500, tsc += WORLD_PERIOD);
    prof_drain();
    assert_int_equal(sums_now().samples, 1);
}

static void find_first(const struct prof_stack_row *row, void *context)
{
    if (row->count == 2)
        *(struct prof_stack_row *)context = *row;
}

TEST(first_and_last_time_are_kept)
{
    const uintptr_t caller[] = {0x2001};
    struct prof_stack_row row = {0};

    world_new(WORLD_MEMORY(64));
    for (uint64_t i = 1; i <= 20; i++)
        tick(0x1500, i * WORLD_PERIOD, caller, i >= 5 && i <= 9);
    prof_drain();
    prof_visit_stacks(find_first, &row);
    assert_int_equal(row.samples, 5);
    assert_int_equal(row.first_tsc, 5 * WORLD_PERIOD);
    assert_int_equal(row.last_tsc, 9 * WORLD_PERIOD);
}

/* Functions are addresses here, there being no names. */
TEST(a_recursive_function_counts_once_in_its_total)
{
    const uintptr_t deep[] = {0x2001, 0x2001, 0x2001, 0x3001};
    uint64_t tsc = 0;

    world_new(WORLD_MEMORY(64));
    for (int i = 0; i < 10; i++)
        tick(0x2001, tsc += WORLD_PERIOD, deep, 4);
    tick(0x4001, tsc += WORLD_PERIOD, deep + 3, 1);
    prof_drain();
    assert_int_equal(total_of(0x2001), 10 * WORLD_PERIOD);
    assert_int_equal(total_of(0x3001), 11 * WORLD_PERIOD);
    assert_int_equal(total_of(0x4001), WORLD_PERIOD);
    assert_int_equal(total_of(0x5001), 0);
}

TEST(folded_stacks_have_every_sample)
{
    const uintptr_t callers[] = {0x2001, 0x3001};

    world_new(WORLD_MEMORY(64));
    tick(0x1500, WORLD_PERIOD, callers, 2);
    tick(0x1500, 2 * WORLD_PERIOD, callers, 2);
    tick(0x1600, 3 * WORLD_PERIOD, callers + 1, 1);
    tick(0x9000, 4 * WORLD_PERIOD, NULL, 0);
    assert_int_equal(prof_option("prof.report=folded"), 0);
    prof_report();
    assert_int_equal(prof_option("prof.report=top"), 0);
    assert_string_equal(world_output, "--- folded stacks ---\n"
                                      "0x00003001;0x00002001;0x00001500 2\n"
                                      "0x00003001;0x00001600 1\n"
                                      "[idle] 1\n"
                                      "--- end of folded stacks ---\n");
}

/* An NMI may come where an interrupt that has ended the halt has not yet pushed
 * anything: what it has interrupted is the caller then. */
TEST(a_halt_that_was_a_caller_is_idle)
{
    const uintptr_t callers[] = {0x9004, 0x3001};

    world_new(WORLD_MEMORY(64));
    tick(0x1500, WORLD_PERIOD, callers, 2);
    prof_drain();
    tick(0x9004, 2 * WORLD_PERIOD, callers + 1, 1);
    prof_drain();
    assert_int_equal(world_stats().idle, 1);
    assert_int_equal(world_stats().unresolved, 1);
}

TEST(the_tree_leaves_out_what_is_small)
{
    const uintptr_t callers[] = {0x2001, 0x3001};
    uint64_t tsc = 0;

    world_new(WORLD_MEMORY(1000));
    for (int i = 0; i < 500; i++) {
        tick(i == 7 ? 0x1600 : 0x1500, tsc += WORLD_PERIOD, callers,
             i % 2 == 0 ? 2 : 1);
        if (i % 100 == 99)
            prof_drain();
    }
    assert_int_equal(prof_option("prof.report=tree"), 0);
    prof_report();
    assert_int_equal(prof_option("prof.report=top"), 0);
    assert_non_null(strstr(world_output, "  50.00 %         0  0x00003001\n"
                                         "  50.00 %         0    0x00002001"));
    assert_non_null(strstr(world_output, "  0x00003001\n"));
    assert_non_null(strstr(world_output, "      0x00001500\n"));
    assert_null(strstr(world_output, "0x00001600"));
}

TEST(a_reset_keeps_the_numbers_of_nodes)
{
    const uintptr_t callers[] = {0x2001, 0x3001};
    uint32_t nodes;

    world_new(WORLD_MEMORY(64));
    tick(0x1500, WORLD_PERIOD, callers, 2);
    prof_drain();
    tick(0x1700, 2 * WORLD_PERIOD, callers, 2);
    prof_reset();
    nodes = prof_stacks.used;
    assert_int_equal(sums_now().stacks, 0);
    tick(0x1500, 3 * WORLD_PERIOD, callers, 2);
    prof_drain();
    assert_int_equal(prof_stacks.used, nodes);
    assert_int_equal(sums_now().samples, 1);
}

/* Many stacks, the allocations from number (from) on refused (count) times. */
static struct sums run_with_refusals(int from, int refusals)
{
    struct sums sums;
    uint64_t tsc = 0;

    world_new(8 * PROF_MEMORY_DEFAULT);
    world_refuse_from = from;
    world_refuse_count = refusals;
    for (uintptr_t turn = 0; turn < 20; turn++) {
        for (uintptr_t i = 0; i < 60; i++) {
            const uintptr_t callers[] = {0x2000 + i * 8, 0x3000 + turn * 8,
                                         0x4000 + i % 7};

            tick(0x1500 + i % 3, tsc += WORLD_PERIOD, callers, 3);
        }
        prof_drain();
    }
    world_refuse_from = -1;
    prof_drain();
    prof_drain();
    sums = sums_now();
    assert_int_equal(prof_cpus[0].frames.head, prof_cpus[0].frames.tail);
    world_end();
    assert_int_equal(world_live, 0);
    return sums;
}

TEST(refused_memory_loses_no_stack)
{
    struct sums all = run_with_refusals(-1, 0);
    int allocations = world_allocations;

    assert_int_equal(all.samples, 1200);
    assert_true(allocations >= 10);
    for (int from = 0; from < allocations; from++)
        for (int count = 1; count <= 3; count += 2) {
            struct sums sums = run_with_refusals(from, count);

            assert_int_equal(sums.samples, all.samples);
            assert_int_equal(sums.cycles, all.cycles);
            assert_int_equal(sums.stacks, all.stacks);
            assert_int_equal(sums.check, all.check);
        }
}

TEST(at_10_khz_a_dozen_frames_fit_between_drains)
{
    uint32_t hz = 10000;
    uint32_t words, samples;

    world_new(PROF_MEMORY_DEFAULT);
    prof_clock_set(WORLD_TSC_HZ / hz << PROF_PERIOD_SHIFT, 1, hz * 1000);
    words = (prof_cpus[0].frames.mask + 1) / (PROF_FRAMES_HEAD + 12);
    samples = prof_drain_ms() * hz / 1000;
    assert_true(samples <= words);
    assert_true(samples <
                (size_t)(prof_cpus[0].ring.end - prof_cpus[0].ring.begin));
    assert_true(prof_drain_ms() >= 10);
    prof_clock_set(WORLD_TSC_HZ / 1000 << PROF_PERIOD_SHIFT, 1, 1000 * 1000);
    assert_int_equal(prof_drain_ms(), 100);
}

TEST(deep_stacks_are_drained_earlier)
{
    uint32_t half = (prof_cpus[0].frames.mask + 1) / 2;

    world_new(PROF_MEMORY_DEFAULT);
    prof_cpus[0].frames.head += half;
    assert_int_equal(prof_drain_ms(), 100);
    prof_cpus[0].frames.head++;
    assert_int_equal(prof_drain_ms(), 1);
    prof_frames_release(&prof_cpus[0].frames, prof_cpus[0].frames.head);
    assert_int_equal(prof_drain_ms(), 100);
    /* the counts go round */
    prof_cpus[0].frames.tail = UINT32_MAX - 1;
    prof_cpus[0].frames.head = prof_cpus[0].frames.tail + half + 1;
    assert_int_equal(prof_drain_ms(), 1);
}

static void longest(const struct prof_stack_row *row, void *context)
{
    uint32_t *count = context;

    if (row->count > *count)
        *count = row->count;
}

/* One tick whose walk stopped for (walked) must give a stack of (frames)
 * addresses that stopped for (reason); 0 = it did not stop early. */
static void keeps_code(const uintptr_t *callers, uint32_t count,
                       uint32_t walked, uint32_t frames, uint32_t reason)
{
    struct prof_stats stats;
    uint32_t most = 0;

    world_new(PROF_MEMORY_DEFAULT);
    tick_stopped(0x2000, WORLD_PERIOD, callers, count, walked);
    prof_drain();
    prof_stats(&stats);
    prof_visit_stacks(longest, &most);
    assert_int_equal(most, frames);
    for (uint32_t i = 0; i < PROF_WALK_REASONS; i++)
        assert_int_equal(stats.stopped[i], i != 0 && i == reason);
    world_end();
}

TEST(a_stack_ends_before_what_is_no_code)
{
    const uintptr_t good[] = {0x3001, 0x4001, 0x5001};
    const uintptr_t zero_last[] = {0x3001, 0x4001, 0};
    const uintptr_t zero_between[] = {0x3001, 0, 0x5001};
    const uintptr_t low[] = {0x3001, 0x4001, TEXT};
    const uintptr_t first[] = {0x1000001, 0x4001, 0x5001};

    keeps_code(good, 3, 0, 4, 0);
    keeps_code(good, 3, PROF_WALK_DEPTH, 4, PROF_WALK_DEPTH);
    keeps_code(zero_last, 3, 0, 3, 0);
    keeps_code(zero_last, 3, PROF_WALK_FALLING, 3, PROF_WALK_NOT_CODE);
    keeps_code(zero_between, 3, 0, 2, PROF_WALK_NOT_CODE);
    keeps_code(low, 3, 0, 3, 0);
    keeps_code(first, 3, PROF_WALK_OUTSIDE, 1, PROF_WALK_NOT_CODE);
}

/* As in U-Boot, which copies itself. */
TEST(a_stack_may_begin_where_the_image_was_linked)
{
    const uintptr_t moved = 0x7000000;
    const uintptr_t linked[] = {0x3001, 0x4001, 0x5001 - moved};
    const uintptr_t low[] = {0x3001, 0x4001, TEXT - moved};

    keeps_code(linked, 3, PROF_WALK_OUTSIDE, 3, PROF_WALK_NOT_CODE);
    prof_symbols_moved(moved);
    keeps_code(linked, 3, PROF_WALK_OUTSIDE, 3, 0);
    keeps_code(low, 3, PROF_WALK_OUTSIDE, 3, PROF_WALK_NOT_CODE);
    prof_symbols_moved(0);
}
