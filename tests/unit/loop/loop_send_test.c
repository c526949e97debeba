/* SPDX-License-Identifier: Apache-2.0 */

/* Rows of the stream: each number is in its field, and a row comes again as
 * soon as any of them has changed. */

#include "../unit.h"

#include "loop_world.h"

#include "../profiler/stream_world.h"

#include <inttypes.h>

static PROF_TRACE_SITE(name, "site");
static PROF_TRACE_SITE(child_name, "child");
static PROF_TRACE_SITE(future_name, "future");
static struct prof_loop_site *site;
static struct prof_loop_node *node, *child;

static void begin(void)
{
    open_stream();
    loop_begin(1000, PROF_LOOP_MEMORY_MIN);
    name.loop = child_name.loop = future_name.loop = 0;
    site = prof_loop_site_of(&name, PROF_LOOP_TASKS);
    node = prof_loop_node_of(NULL, site);
    child = prof_loop_node_of(
        node, prof_loop_site_of(&child_name, PROF_LOOP_CALLBACKS));
    prof_loop_send_again();
}

static void end(void)
{
    prof_stream_end(prof_loop_hosted_tsc, 0);
    loop_end();
}

/* The rows of (site) in another round, a second later; the last one, if there
 * is any, is (row). */
static unsigned rows_of_round(struct event_loop_row *row)
{
    unsigned first = kept_count, rows = 0;

    pass(HZ);
    drained();
    prof_stream_push();
    see_from(first, kept_count);
    assert_int_equal(count_of(PROF_EVENT_LOOP), 1);
    for (unsigned i = 0; i < seen_count; i++) {
        const struct event *event = &seen[i].event;

        if (event->kind != PROF_EVENT_LOOP_ROW ||
            event->as_loop_row.site != prof_loop_site_number(site))
            continue;
        *row = event->as_loop_row;
        rows++;
    }
    return rows;
}

/* (count) values of (value) and more, and as many in no histogram. */
static void add_values(enum prof_loop_measure measure, unsigned count,
                       uint64_t value)
{
    site->histograms.unbinned[measure] += count;
    for (unsigned i = 0; i < count; i++)
        prof_histograms_add(&site->histograms, measure, value + i * value / 8);
}

FIXTURE(begin, end);

TEST(each_number_is_in_its_field)
{
    static struct prof_loop_task oldest;
    struct event_loop_row row;
    uint64_t pending_since = prof_loop_hosted_tsc - 17;

    oldest.created = pending_since;
    site->oldest = &oldest;
    site->row.calls = 0x100000001;
    site->row.resolved = 0x200000002;
    site->row.failed = 0x300000003;
    site->row.cancelled = 0x400000004;
    site->row.pending = 5;
    node->self_cycles = 0x600000006;
    child->self_cycles = 0x100000000;
    site->row.longest_cycles = 0x800000008;
    site->row.longest_tsc = 0x900000009;
    site->row.longest_object = 10;
    add_values(PROF_LOOP_RUN, 11, 1000);
    add_values(PROF_LOOP_DELAY, 12, 10000);
    site->row.sums[PROF_LOOP_DELAY].cycles = 0x1300000013;
    add_values(PROF_LOOP_WALL, 14, 100000);
    site->row.sums[PROF_LOOP_WALL].cycles = 0x1500000015;
    site->row.held = 0x1600000016;
    site->row.held_cycles = 0x1700000017;
    assert_int_equal(rows_of_round(&row), 1);
    assert_int_equal(row.calls, site->row.calls);
    assert_int_equal(row.resolved, site->row.resolved);
    assert_int_equal(row.failed, site->row.failed);
    assert_int_equal(row.cancelled, site->row.cancelled);
    assert_int_equal(row.pending, 5);
    assert_int_equal(row.oldest, prof_loop_hosted_tsc - pending_since);
    assert_int_equal(row.own, 0x600000006);
    assert_int_equal(row.total, 0x700000006);
    assert_int_equal(row.longest, site->row.longest_cycles);
    assert_int_equal(row.longest_begin, site->row.longest_tsc);
    assert_int_equal(row.longest_task, 10);
    assert_int_equal(row.runs, 22);
    assert_int_equal(row.delays, 24);
    assert_int_equal(row.delay, site->row.sums[PROF_LOOP_DELAY].cycles);
    assert_int_equal(row.walls, 28);
    assert_int_equal(row.wall, site->row.sums[PROF_LOOP_WALL].cycles);
    assert_int_equal(row.held, site->row.held);
    assert_int_equal(row.held_time, site->row.held_cycles);
#define SAME(field, measure, permille)                                         \
    assert_int_equal(row.field, prof_loop_quantile(row.site, measure, permille))
    SAME(run_p50, PROF_LOOP_RUN, 500);
    SAME(run_p90, PROF_LOOP_RUN, 900);
    SAME(run_p99, PROF_LOOP_RUN, 990);
    SAME(delay_p50, PROF_LOOP_DELAY, 500);
    SAME(delay_p90, PROF_LOOP_DELAY, 900);
    SAME(delay_p99, PROF_LOOP_DELAY, 990);
    SAME(wall_p50, PROF_LOOP_WALL, 500);
    SAME(wall_p90, PROF_LOOP_WALL, 900);
    SAME(wall_p99, PROF_LOOP_WALL, 990);
    assert_true(row.run_p50 < row.run_p90 && row.run_p90 < row.run_p99 &&
                row.run_p99 < row.delay_p50 && row.delay_p99 < row.wall_p50 &&
                row.wall_p50 < row.wall_p90);
}

/* With the row, once calls are counted. */
TEST(calls_are_in_their_fields)
{
    static uint64_t records[32];
    struct event_loop_row row;
    struct event_loop_call call = {0};
    uint64_t refused = 0;
    unsigned first;

    assert_int_equal(prof_loop_count_calls(records, 8), 0);
    prof_loop_future(&future_name, 3);
    prof_loop_future(&future_name, 3); /* refused */
    pass(40);
    prof_loop_future_end(&future_name, 3, PROF_LOOP_RESOLVED);
    add_values(PROF_LOOP_SELF, 2, 1000);
    site->row.sums[PROF_LOOP_SELF].cycles = 10 | (uint64_t)1 << 40;
    site->row.call_longest_cycles = 11 | (uint64_t)1 << 41;
    site->row.call_longest_tsc = 12 | (uint64_t)1 << 42;
    site->row.call_longest_object = 13;
    site->row.calls = 1;
    first = kept_count;
    assert_int_equal(rows_of_round(&row), 1);
    see_from(first, kept_count);
    for (unsigned i = 0; i < seen_count; i++) {
        const struct event *event = &seen[i].event;

        if (event->kind == PROF_EVENT_LOOP_CALLS)
            refused = event->as_loop_calls.refused;
        if (event->kind != PROF_EVENT_LOOP_CALL)
            continue;
        if (event->as_loop_call.site == prof_loop_site_number(site)) {
            call = event->as_loop_call;
            continue;
        }
        assert_int_equal(event->as_loop_call.calls, 1);
        assert_int_equal(event->as_loop_call.time, 40);
        assert_int_equal(event->as_loop_call.longest, 40);
        assert_int_equal(event->as_loop_call.longest_task, 3);
    }
    assert_int_equal(refused, 1);
    assert_int_equal(call.calls, 4);
    assert_int_equal(call.time, site->row.sums[PROF_LOOP_SELF].cycles);
    assert_int_equal(call.longest, site->row.call_longest_cycles);
    assert_int_equal(call.longest_end, site->row.call_longest_tsc);
    assert_int_equal(call.longest_task, 13);
    assert_int_equal(call.p50,
                     prof_loop_quantile(call.site, PROF_LOOP_SELF, 500));
    assert_int_equal(call.p99,
                     prof_loop_quantile(call.site, PROF_LOOP_SELF, 990));
    assert_true(call.p50 < call.p99);
}

TEST(a_row_comes_when_any_number_has_changed)
{
    uint64_t *const numbers[] = {
        &site->row.calls,
        &site->row.resolved,
        &site->row.failed,
        &site->row.cancelled,
        &node->self_cycles,
        &child->self_cycles,
        &site->row.longest_cycles,
        &site->row.longest_tsc,
        &site->row.sums[PROF_LOOP_DELAY].cycles,
        &site->row.sums[PROF_LOOP_WALL].cycles,
        &site->row.held,
        &site->row.held_cycles,
    };
    struct event_loop_row row;

    assert_int_equal(rows_of_round(&row), 1);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (unsigned bit = 0; bit < 64; bit += 33) { /* low, high */
            assert_int_equal(rows_of_round(&row), 0);
            *numbers[i] ^= (uint64_t)1 << bit;
            if (rows_of_round(&row) != 1)
                fail_msg("number %zu, bit %u: no row", i, bit);
        }
    for (unsigned i = 0; i <= PROF_LOOP_WALL; i++) {
        assert_int_equal(rows_of_round(&row), 0);
        add_values((enum prof_loop_measure)i, 1, 1000);
        assert_int_equal(rows_of_round(&row), 1);
    }
}
