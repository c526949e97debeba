/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: the table of what is pending, which may be full; futures; and time
 * that was stolen from a call. */

#include "../unit.h"

#include "loop_world.h"

#include "loop/calls.h"

#include <prof/error.h>

#define COUNT_MAX 24u
#define HELD 20u

static PROF_TRACE_SITE(task_site, "task");
static PROF_TRACE_SITE(sleep_site, "sleep");
static PROF_TRACE_SITE(disk_site, "disk");
static struct prof_loop_task task;
static uint64_t records[2 * 64];

static void begin(void)
{
    loop_begin(1000, PROF_LOOP_MEMORY_MIN);
    task_site.loop = sleep_site.loop = disk_site.loop = 0;
    task = (struct prof_loop_task){0};
    assert_true(prof_loop_calls_bytes(COUNT_MAX) <= sizeof records);
    assert_int_equal(prof_loop_count_calls(records, COUNT_MAX), 0);
    prof_loop_limit(HELD, 0, NULL);
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

TEST(errors_are_reported)
{
    loop_end();
    assert_int_equal(prof_loop_count_calls(records, 4), PROF_ESTATE);
    loop_begin(1000, PROF_LOOP_MEMORY_MIN);
    assert_int_equal(prof_loop_count_calls(NULL, 4), PROF_EMEMORY);
    assert_int_equal(prof_loop_count_calls((char *)records + 4, 4),
                     PROF_EMEMORY);
    assert_int_equal(prof_loop_count_calls(records, 0), PROF_EMEMORY);
    assert_int_equal(prof_loop_count_calls(records, PROF_LOOP_CALLS_MAX + 1),
                     PROF_EMEMORY);
    assert_int_equal(prof_loop_count_calls(records, 4), 0);
    assert_int_equal(prof_loop_count_calls(records, 4), PROF_ESTATE);
}

TEST(futures_are_pending_for_a_time)
{
    struct prof_loop_row row;

    prof_loop_future(&sleep_site, 5);
    pass(10);
    prof_loop_future(&sleep_site, 6);
    prof_loop_future(&disk_site, 6);
    pass(20);
    prof_loop_future_end(&sleep_site, 6, PROF_LOOP_RESOLVED);
    row = row_of(&sleep_site);
    assert_int_equal(row.kind, PROF_LOOP_FUTURES);
    assert_int_equal(row.calls, 2);
    assert_int_equal(row.resolved, 1);
    assert_int_equal(row.pending, 1);
    assert_int_equal(row.oldest_cycles, 30);
    assert_int_equal(row.sums[PROF_LOOP_WALL].count, 1);
    assert_int_equal(row.sums[PROF_LOOP_WALL].cycles, 20);
    assert_int_equal(row.call_longest_cycles, 20);
    assert_int_equal(row.call_longest_object, 6);
    pass(5);
    prof_loop_future_end(&sleep_site, 5, PROF_LOOP_CANCELLED);
    prof_loop_future_end(&disk_site, 6, PROF_LOOP_FAILED);
    row = row_of(&sleep_site);
    assert_int_equal(row.cancelled, 1);
    assert_int_equal(row.pending, 0);
    assert_int_equal(row.oldest_cycles, 0);
    assert_int_equal(row.call_longest_cycles, 35);
    assert_int_equal(row.call_longest_object, 5);
    assert_int_equal(prof_loop_quantile(row.number, PROF_LOOP_WALL, 500), 20);
    row = row_of(&disk_site);
    assert_int_equal(row.failed, 1);
    assert_int_equal(row.sums[PROF_LOOP_WALL].cycles, 25);
    assert_int_equal(row.self_cycles, 0);
}

TEST(a_name_of_futures_may_be_that_of_tasks)
{
    struct prof_loop_account account;

    prof_loop_future(&task_site, 1);
    prof_loop_create(&task, &task_site, 2);
    prof_loop_run(&task);
    pass(3);
    prof_loop_end(&task, PROF_LOOP_RESOLVED);
    prof_loop_pause(&task);
    prof_loop_future_end(&task_site, 1, PROF_LOOP_RESOLVED);
    prof_loop_account(&account);
    assert_int_equal(account.tasks_cycles, 3);
    assert_int_equal(account.wall_cycles, 3);
}

TEST(those_beyond_are_refused_and_counted)
{
    struct prof_loop_task more[COUNT_MAX + 2] = {0};
    struct prof_loop_row row;

    for (uint32_t i = 0; i < COUNT_MAX + 2; i++)
        prof_loop_create(&more[i], &task_site, i + 1);
    prof_loop_future(&sleep_site, 1);
    prof_loop_future_end(&sleep_site, 1, PROF_LOOP_RESOLVED);
    assert_int_equal(account_now().calls_refused, 1);
    for (uint32_t i = 0; i < COUNT_MAX + 2; i++)
        prof_loop_end(&more[i], PROF_LOOP_RESOLVED);
    prof_loop_future(&sleep_site, 1); /* there is room again */
    prof_loop_future_end(&sleep_site, 1, PROF_LOOP_RESOLVED);
    row = row_of(&task_site);
    assert_int_equal(row.resolved, COUNT_MAX + 2);
    assert_int_equal(row.sums[PROF_LOOP_SELF].count, COUNT_MAX);
    assert_int_equal(row_of(&sleep_site).calls, 1);
    assert_int_equal(account_now().calls_refused, 3);
    prof_loop_reset();
    assert_int_equal(account_now().calls_refused, 0);
}

TEST(a_task_without_a_number_is_refused)
{
    prof_loop_create(&task, &task_site, 0);
    prof_loop_run(&task);
    prof_loop_pause(&task);
    prof_loop_end(&task, PROF_LOOP_RESOLVED);
    assert_int_equal(row_of(&task_site).sums[PROF_LOOP_SELF].count, 0);
    assert_int_equal(account_now().calls_refused, 1);
}

/* One that was not there is ignored: its begin was refused. */
TEST(the_end_of_an_unknown_future_is_ignored)
{
    prof_loop_future_end(&sleep_site, 1, PROF_LOOP_RESOLVED);
    prof_loop_future(&sleep_site, 1);
    prof_loop_future(&sleep_site, 1); /* refused: it is there */
    prof_loop_future_end(&sleep_site, 1, PROF_LOOP_RESOLVED);
    prof_loop_future_end(&sleep_site, 1, PROF_LOOP_RESOLVED);
    assert_int_equal(row_of(&sleep_site).calls, 1);
    assert_int_equal(row_of(&sleep_site).pending, 0);
    assert_int_equal(account_now().calls_refused, 1);
}

/* Two sites with the same few numbers, far apart and near each other, against
 * a list. */
TEST(the_table_finds_what_is_in_it)
{
    static uint64_t since[2][64];
    struct prof_trace_name *const names[2] = {&sleep_site, &disk_site};
    uint64_t sums[2] = {0}, ended[2] = {0};
    unsigned live = 0, refused = 0;

    unit_seed = sizeof(void *);
    for (unsigned i = 0; i < 200000; i++) {
        unsigned which = unit_below(2), number = unit_below(64);
        uint64_t *at = &since[which][number];

        pass(1 + unit_below(3));
        if (*at == 0) {
            prof_loop_future(names[which], 1 + number * 32);
            if (live == COUNT_MAX) {
                refused++;
                continue;
            }
            live++;
            *at = prof_loop_hosted_tsc;
        } else {
            prof_loop_future_end(names[which], 1 + number * 32,
                                 PROF_LOOP_RESOLVED);
            sums[which] += prof_loop_hosted_tsc - *at;
            ended[which]++;
            live--;
            *at = 0;
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        struct prof_loop_row row = row_of(names[i]);

        assert_int_equal(row.resolved, ended[i]);
        assert_int_equal(row.sums[PROF_LOOP_WALL].cycles, sums[i]);
    }
    assert_true(refused > 1000);
    assert_int_equal(account_now().calls_refused, refused);
}

/* A theft in a run of (task) of (ms) besides, and the sample after it. */
static uint64_t robbed(uint64_t ms, uint64_t theft)
{
    uint64_t at;

    prof_loop_run(&task);
    pass(ms);
    pass(theft);
    at = prof_loop_hosted_tsc;
    prof_loop_pause(&task);
    return at;
}

TEST(stolen_time_is_taken_out_of_a_call)
{
    struct prof_loop_row row;
    uint64_t at;

    prof_loop_create(&task, &task_site, 7);
    at = robbed(5, 300);
    drain_finds(at, 300);
    drained();
    robbed(6, 0);
    prof_loop_end(&task, PROF_LOOP_RESOLVED);
    row = row_of(&task_site);
    assert_int_equal(row.sums[PROF_LOOP_SELF].cycles, 11);
    assert_int_equal(row.call_longest_cycles, 11);
}

/* And no call is the longest because of it. */
TEST(stolen_time_is_taken_out_of_a_call_that_has_ended)
{
    struct prof_loop_task other = {0};
    struct prof_loop_row row;
    uint64_t at[2];

    prof_loop_create(&task, &task_site, 7);
    at[0] = robbed(5, 300);
    at[1] = robbed(6, 200);
    prof_loop_end(&task, PROF_LOOP_RESOLVED);
    prof_loop_create(&other, &task_site, 8);
    prof_loop_run(&other);
    pass(15);
    prof_loop_end(&other, PROF_LOOP_RESOLVED);
    prof_loop_pause(&other);
    drain_finds(at[0], 300);
    drain_finds(at[1], 200);
    drained();
    row = row_of(&task_site);
    assert_int_equal(row.sums[PROF_LOOP_SELF].count, 2);
    assert_int_equal(row.sums[PROF_LOOP_SELF].cycles, 26);
    assert_int_equal(row.call_longest_cycles, 15);
    assert_int_equal(row.call_longest_object, 8);
    assert_int_equal(prof_loop_quantile(row.number, PROF_LOOP_SELF, 500), 11);
    assert_int_equal(prof_loop_quantile(row.number, PROF_LOOP_SELF, 1000), 15);
}
