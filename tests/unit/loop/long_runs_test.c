/* SPDX-License-Identifier: Apache-2.0 */
/* Long runs with their samples, and the freeze guard. */

#include "../unit.h"

#include "loop_world.h"

#include "loop/long_runs.h"

#define HELD 20u
#define FREEZE 100u

static PROF_TRACE_SITE(hog_site, "hog");
static PROF_TRACE_SITE(other_site, "other");
static char printed[2048];
static struct prof_loop_task hog, other;

static void begin(void)
{
    loop_begin(1000, PROF_LOOP_MEMORY_MIN);
    hog_site.loop = other_site.loop = 0;
    hog = other = (struct prof_loop_task){0};
    printed[0] = '\0';
    prof_loop_limit(HELD, FREEZE, NULL);
    prof_loop_create(&hog, &hog_site, 7);
    prof_loop_create(&other, &other_site, 8);
}

/* ---- long runs */

static struct prof_long_run sent[PROF_LONG_RUNS_NOTED];
static unsigned sent_count;

static void take(const struct prof_long_run *run)
{
    sent[sent_count++] = *run;
}

FIXTURE(begin, loop_end);

TEST(a_long_run_has_its_samples)
{
    uint64_t begin_tsc = prof_loop_hosted_tsc;

    prof_loop_run(&hog);
    pass(50);
    prof_loop_pause(&hog);
    pass(50);
    prof_loop_sample(begin_tsc - 1, 0x100);
    for (unsigned i = 0; i < 10; i++)
        prof_loop_sample(begin_tsc + i, i < 8 ? 0x200 : 0x300);
    prof_loop_sample(begin_tsc + 50, 0x100);
    sent_count = 0;
    prof_long_runs_finish(take);
    assert_int_equal(sent_count, 1);
    assert_ptr_equal(sent[0].site->row.site, &hog_site);
    assert_int_equal(sent[0].object, 7);
    assert_int_equal(sent[0].self_cycles, 50);
    assert_int_equal(sent[0].samples, 10);
    assert_int_equal(sent[0].functions[0].function, 0x200);
    assert_int_equal(sent[0].functions[0].samples, 8);
    assert_int_equal(sent[0].functions[1].samples, 2);
    prof_long_runs_finish(take);
    assert_int_equal(sent_count, 1);
}

TEST(a_short_run_is_not_listed)
{
    prof_loop_run(&hog);
    pass(HELD - 1);
    prof_loop_pause(&hog);
    assert_int_equal(prof_loop_cpu_here()->long_runs.count, 0);
}

TEST(of_many_long_runs_the_longest_are_listed)
{
    for (unsigned i = 0; i < 3 * PROF_LONG_RUNS_NOTED; i++) {
        prof_loop_run(&hog);
        pass(HELD + i);
        prof_loop_pause(&hog);
    }
    assert_int_equal(prof_loop_cpu_here()->long_runs.count,
                     PROF_LONG_RUNS_NOTED);
    prof_long_runs_finish(NULL);
    for (unsigned i = 0; i < PROF_LONG_RUNS_LISTED; i++)
        assert_int_equal(prof_long_runs_listed(i)->self_cycles,
                         HELD + 3 * PROF_LONG_RUNS_NOTED - 1 - i);
}

/* ---- the guard */

static void print(const char *text, size_t bytes)
{
    strncat(printed, text, bytes);
}

static unsigned tick(uint64_t ms)
{
    pass(ms);
    prof_loop_irq_enter();
    prof_loop_guard(0x1234, 0, 0, print);
    prof_loop_irq_exit();
    return account_now().freezes;
}

TEST(a_frozen_loop_is_reported_once)
{
    struct prof_freeze freeze;

    prof_loop_run(&hog);
    for (unsigned i = 0; i < 9; i++)
        assert_int_equal(tick(10), 0);
    assert_int_equal(tick(10), 1);
    assert_int_equal(tick(1000), 1);
    assert_non_null(strstr(printed, "held for 100.0 ms by hog ("));
    assert_non_null(strstr(printed, "), task 7, at\nloop:   0x00001234\n"));
    assert_true(prof_guard_take(&freeze));
    assert_int_equal(freeze.held_cycles, FREEZE);
    assert_int_equal(freeze.addresses[0], 0x1234);
    assert_false(prof_guard_take(&freeze));
    prof_loop_pause(&hog);
    pass(1);
    prof_loop_run(&hog);
    assert_int_equal(tick(10), 1);
    assert_int_equal(tick(90), 2);
}

/* None is long, but the loop is held by all of them together. */
TEST(children_one_after_the_other_freeze_it_too)
{
    unsigned ms = 0;

    prof_loop_run(&hog);
    while (tick(0) == 0) {
        prof_loop_run(&other);
        tick(5);
        ms += 5;
        prof_loop_pause(&other);
        assert_true(ms <= FREEZE + 10);
    }
    assert_true(ms >= FREEZE);
    assert_non_null(strstr(printed, "by other ("));
    assert_non_null(strstr(printed, "within hog ("));
}

TEST(a_loop_that_runs_is_not_frozen)
{
    struct prof_loop_frame frame;

    for (unsigned i = 0; i < 50; i++) {
        prof_loop_run(&hog);
        tick(50);
        prof_loop_pause(&hog);
        pass(1);
        prof_loop_wake(&hog);
    }
    prof_loop_idle(&frame);
    assert_int_equal(tick(10000), 0);
    prof_loop_idle_end(&frame);
}

/* A task that runs the loop does not hold it meanwhile. */
TEST(a_nested_loop_is_not_frozen)
{
    struct prof_loop_frame frame;

    prof_loop_run(&hog);
    prof_loop_nest(&frame);
    assert_int_equal(tick(500), 0);
    assert_int_equal(tick(500), 0);
    prof_loop_run(&other);
    assert_int_equal(tick(100), 1);
    assert_non_null(strstr(printed, "by other ("));
    prof_loop_pause(&other);
    prof_loop_leave(&frame);
    prof_loop_pause(&hog);
}
