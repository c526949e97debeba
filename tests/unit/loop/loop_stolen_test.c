/* SPDX-License-Identifier: Apache-2.0 */
/* Time that the host has stolen: out of what it was stolen from, and in an
 * account of its own. */

#include "../unit.h"

#include "loop_world.h"

#include "loop/long_runs.h"

#define HELD 20u
#define FREEZE 100u
#define BEGIN ((1ull << 32) - 5000) /* so that the upper half changes */

static PROF_TRACE_SITE(outer_site, "outer");
static PROF_TRACE_SITE(inner_site, "inner");
static struct prof_loop_task outer, inner;
static unsigned sent;

static void begin(void)
{
    loop_begin(BEGIN, PROF_LOOP_MEMORY_MIN);
    outer_site.loop = inner_site.loop = 0;
    outer = inner = (struct prof_loop_task){0};
    sent = 0;
    prof_loop_limit(HELD, FREEZE, NULL);
    drained();
    prof_loop_create(&outer, &outer_site, 7);
    prof_loop_create(&inner, &inner_site, 8);
}

/* A theft, and the sample after it. */
static uint64_t steal(uint64_t ms)
{
    pass(ms);
    return prof_loop_hosted_tsc;
}

static struct prof_loop_row found;

static void on_row(const struct prof_loop_row *row, void *name)
{
    if (row->site == name)
        found = *row;
}

static struct prof_loop_row row_of(struct prof_trace_name *name)
{
    found = (struct prof_loop_row){0};
    prof_loop_visit(on_row, name);
    return found;
}

FIXTURE(begin, loop_end);

TEST(it_is_taken_out_of_a_run_that_has_paused)
{
    struct prof_loop_account account;
    struct prof_loop_row row;
    uint64_t at;

    prof_loop_run(&outer);
    pass(3);
    at = steal(500);
    pass(4);
    prof_loop_pause(&outer);
    pass(10);
    drain_finds(at, 500);
    drained();
    account = account_now();
    row = row_of(&outer_site);
    assert_int_equal(account.stolen_cycles, 500);
    assert_int_equal(account.stolen_inside_cycles, 0);
    assert_int_equal(account.tasks_cycles, 7);
    assert_int_equal(row.self_cycles, 7);
    assert_int_equal(row.longest_cycles, 7);
    assert_int_equal(row.held, 0);
    assert_int_equal(prof_loop_quantile(row.number, PROF_LOOP_RUN, 1000), 7);
    assert_int_equal(row.sums[PROF_LOOP_RUN].count, 1);
}

static void count_sent(const struct prof_long_run *run)
{
    assert_int_equal(run->self_cycles, 25);
    sent++;
}

TEST(a_run_is_long_without_it_only)
{
    uint64_t at[2];

    for (unsigned i = 0; i < 2; i++) {
        prof_loop_run(&outer);
        at[i] = steal(60);
        pass(i == 0 ? 5 : 25);
        prof_loop_pause(&outer);
    }
    drain_finds(at[0], 60);
    drain_finds(at[1], 60);
    prof_long_runs_finish(count_sent);
    assert_int_equal(sent, 1);
    assert_int_equal(row_of(&outer_site).held, 1);
    assert_int_equal(row_of(&outer_site).held_cycles, 25);
    assert_int_equal(row_of(&outer_site).longest_cycles, 25);
}

/* The outer one's begin is before, and its end after the inner one's. */
TEST(it_is_the_innermost_ones)
{
    uint64_t at[3];

    prof_loop_run(&outer);
    at[0] = steal(30);
    prof_loop_run(&inner);
    pass(1);
    at[1] = steal(40);
    prof_loop_pause(&inner);
    at[2] = steal(50);
    prof_loop_pause(&outer);
    for (unsigned i = 0; i < 3; i++)
        drain_finds(at[i], i == 0 ? 30 : i == 1 ? 40 : 50);
    drained();
    assert_int_equal(row_of(&inner_site).self_cycles, 1);
    assert_int_equal(row_of(&outer_site).self_cycles, 0);
    assert_int_equal(account_now().stolen_cycles, 120);
}

/* Even after a time for which 32 bits do not suffice. */
TEST(it_is_taken_out_of_runs_that_go_on)
{
    struct prof_loop_frame frame;
    uint64_t at[3];

    prof_loop_run(&outer);
    pass(6000); /* the upper half has changed */
    at[0] = steal(7000);
    prof_loop_run(&inner);
    at[1] = steal(50);
    prof_loop_profiler(&frame);
    at[2] = steal(20);
    drain_finds(at[0], 7000);
    drain_finds(at[1], 50);
    drain_finds(at[2], 20);
    prof_loop_leave(&frame);
    assert_int_equal(row_of(&inner_site).self_cycles, 0);
    assert_int_equal(row_of(&outer_site).self_cycles, 6000);
    assert_int_equal(account_now().profiler_cycles, 0);
    assert_int_equal(account_now().stolen_cycles, 7070);
    pass(9);
    prof_loop_pause(&inner);
    prof_loop_pause(&outer);
    drained();
    assert_int_equal(row_of(&inner_site).longest_cycles, 9);
    assert_int_equal(row_of(&outer_site).longest_cycles, 6000);
}

TEST(it_is_taken_out_of_idle_and_of_the_loop)
{
    struct prof_loop_frame frame;
    uint64_t at[2];

    pass(2);
    at[0] = steal(80);
    prof_loop_idle(&frame);
    at[1] = steal(90);
    pass(1);
    prof_loop_idle_end(&frame);
    drain_finds(at[0], 80);
    drain_finds(at[1], 90);
    drained();
    assert_int_equal(account_now().loop_cycles, 2);
    assert_int_equal(account_now().idle_cycles, 1);
    assert_int_equal(account_now().longest_idle_cycles, 1);
    assert_int_equal(account_now().stolen_cycles, 170);
}

TEST(it_is_taken_out_of_an_interrupt)
{
    uint64_t at;

    prof_loop_run(&outer);
    prof_loop_irq_enter();
    pass(2);
    at = steal(200);
    prof_loop_irq_exit();
    pass(3);
    prof_loop_pause(&outer);
    drain_finds(at, 200);
    drained();
    assert_int_equal(account_now().interrupts_cycles, 2);
    assert_int_equal(account_now().sampler_cycles, 0);
    assert_int_equal(account_now().tasks_cycles, 3);
    assert_int_equal(account_now().stolen_cycles, 200);
}

/* The gap between samples is longer then; but not by much. */
TEST(a_tick_may_come_late)
{
    uint64_t at;

    prof_loop_run(&outer);
    steal(60);
    prof_loop_pause(&outer);
    pass(20);
    drain_finds(prof_loop_hosted_tsc, 80);
    drained();
    assert_int_equal(account_now().stolen_cycles, 60);
    assert_int_equal(account_now().stolen_inside_cycles, 20);
    prof_loop_run(&outer);
    at = steal(30);
    prof_loop_pause(&outer);
    drain_finds(at + 20, 70);
    drained();
    assert_int_equal(account_now().stolen_cycles, 60);
    assert_int_equal(row_of(&outer_site).self_cycles, 30);
}

/* So nothing that was read becomes less. */
TEST(what_was_read_stays)
{
    uint64_t at;

    prof_loop_run(&outer);
    at = steal(500);
    prof_loop_pause(&outer);
    assert_int_equal(account_now().tasks_cycles, 500);
    drain_finds(at, 500);
    drained();
    assert_int_equal(account_now().tasks_cycles, 500);
    assert_int_equal(account_now().stolen_cycles, 0);
    assert_int_equal(account_now().stolen_inside_cycles, 500);
    assert_int_equal(row_of(&outer_site).longest_cycles, 500);
    prof_loop_reset();
    drain_finds(at, 500);
    drained();
    assert_int_equal(account_now().stolen_inside_cycles, 0);
}

/* Neither the run on the top nor the whole stack has held the loop for so
 * long. */
TEST(it_is_no_freeze)
{
    uint64_t at;

    prof_loop_run(&outer);
    pass(10);
    prof_loop_irq_enter();
    prof_loop_guard(0, 0, 0, NULL);
    prof_loop_irq_exit();
    at = steal(80);
    drain_finds(at, 80);
    pass(89);
    prof_loop_irq_enter();
    prof_loop_guard(0, 0, 0, NULL);
    prof_loop_irq_exit();
    assert_int_equal(prof_loop_cpu_here()->freezes, 0);
    pass(12);
    prof_loop_irq_enter();
    prof_loop_guard(0, 0, 0, NULL);
    prof_loop_irq_exit();
    assert_int_equal(prof_loop_cpu_here()->freezes, 1);
    prof_loop_pause(&outer);
}

TEST(without_a_place_it_stays_inside)
{
    uint64_t at = 0;

    for (unsigned i = 0; i < 2 * PROF_LONG_RUNS_NOTED; i++) {
        prof_loop_run(&outer);
        at = steal(PERIOD);
        prof_loop_pause(&outer);
    }
    drain_finds(at, PERIOD);
    drained();
    assert_int_equal(account_now().stolen_cycles, 0);
    assert_int_equal(account_now().stolen_inside_cycles, PERIOD);
    assert_int_equal(row_of(&outer_site).self_cycles,
                     2 * PROF_LONG_RUNS_NOTED * PERIOD);
    assert_int_equal(row_of(&outer_site).longest_cycles, PERIOD);
}
