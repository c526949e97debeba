/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions in the order of a table, short and long, against qsort(): with
 * weights and counts that are often the same, so that each of the three things
 * that decide has to.
 */

#include "../unit.h"

#include "profiler_world.h"

#include "aggregate/hottest.h"
#include "aggregate/sums.h"

#define FUNCTIONS_MAX 1500u

static uintptr_t wanted[FUNCTIONS_MAX]; /* their addresses, in their order */

static int by_heat(const void *first, const void *second)
{
    const struct prof_function *const *a = first, *const *b = second;
    uint64_t of_a = (*a)->self.cycles, of_b = (*b)->self.cycles;

    if (of_a != of_b)
        return of_a > of_b ? -1 : 1;
    if ((*a)->self.samples != (*b)->self.samples)
        return (*a)->self.samples > (*b)->self.samples ? -1 : 1;
    return (*a)->record.key < (*b)->record.key ? -1 : 1;
}

/* A world of so many functions, and their order. */
static void world_of(uint32_t functions)
{
    const struct prof_function *all[FUNCTIONS_MAX];
    uint32_t seed = functions, used = 0;
    uint64_t tsc = 0;

    world_new(PROF_MEMORY_DEFAULT);
    for (uint32_t i = 0; i < functions; i++)
        for (uint32_t n = 0; n <= (seed = seed * 1664525 + 1013904223) >> 30;
             n++) {
            world_tick(0x10000 + i * 16, tsc += WORLD_PERIOD);
            prof_drain();
        }
    assert_int_equal(prof_sums()->functions, functions);
    for (uint32_t i = 1; i < prof_functions.used; i++)
        all[used++] = prof_function_at(i);
    assert_int_equal(used, functions);
    qsort(all, used, sizeof *all, by_heat);
    for (uint32_t i = 0; i < used; i++)
        wanted[i] = all[i]->record.key;
}

static void assert_table(uint32_t rows, uint32_t functions)
{
    struct prof_hottest hottest;

    prof_hottest_begin(&hottest, rows);
    for (uint32_t i = 0; i < rows && i < functions; i++) {
        const struct prof_function *function = prof_hottest_next(&hottest);

        assert_non_null(function);
        assert_true(function->record.key == wanted[i]);
    }
    assert_null(prof_hottest_next(&hottest));
    assert_null(prof_hottest_next(&hottest));
}

static void assert_all_tables(uint32_t functions)
{
    const uint32_t rows[] = {0,  1,   2,    PROF_HOTTEST_FEW,
                             33, 100, 2000, UINT32_MAX};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_table(rows[i], functions);
}

FIXTURE(NULL, world_end);

TEST(tables_are_in_their_order)
{
    const uint32_t functions[] = {0,  1,  2,  31,  32,  33,
                                  63, 64, 65, 127, 128, FUNCTIONS_MAX};

    for (size_t i = 0; i < COUNT(functions); i++) {
        world_of(functions[i]);
        assert_all_tables(functions[i]);
    }
}

/* A long table writes to the functions; profiling goes on from there. */
TEST(samples_go_on_after_a_long_table)
{
    struct prof_stats before, after;

    world_of(100);
    assert_table(100, 100);
    before = world_stats();
    for (uint32_t i = 0; i < 200; i++) {
        world_tick(0x10000 + i * 16, prof_clock_of(prof_cpu_here())->last_tsc +
                                         (i + 1) * WORLD_PERIOD);
        if (i % 20 == 19)
            prof_drain();
    }
    prof_drain();
    after = world_stats();
    assert_int_equal(after.ticks, before.ticks + 200);
    assert_int_equal(after.functions, 200);
}
