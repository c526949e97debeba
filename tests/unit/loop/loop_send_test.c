/* SPDX-License-Identifier: Apache-2.0 */

/* Rows of the stream: each number is in its field, and a row comes again as
 * soon as any of them has changed. */

#include "../unit.h"

#include "loop_world.h"

#define EVENTS_MAX 4096u
#define FIELDS_MAX 255u
#include "../profiler/stream_world.h"

#include <inttypes.h>

static PROF_TRACE_SITE(name, "site");
static PROF_TRACE_SITE(child_name, "child");
static struct prof_loop_site *site;
static struct prof_loop_node *node, *child;

static void begin(void)
{
    open_stream();
    loop_begin(1000, PROF_LOOP_MEMORY_MIN);
    name.loop = child_name.loop = 0;
    site = prof_loop_site_of(&name, PROF_LOOP_TASKS);
    node = prof_loop_node_of(NULL, site);
    child = prof_loop_node_of(
        node, prof_loop_site_of(&child_name, PROF_LOOP_CALLBACKS));
    prof_loop_send_again();
}

static void end(void)
{
    prof_stream_end(prof_cpu_here(), prof_loop_hosted_tsc, 0);
    loop_end();
}

/* The rows of (site) in another round, a second later; the last one, if there
 * is any, is (row). */
static unsigned rows_of_round(struct prof_event_loop_row *row)
{
    unsigned first = kept_count, rows = 0;

    pass(HZ);
    drained();
    prof_stream_push(prof_cpu_here());
    see_from(first, kept_count);
    assert_int_equal(count_of(PROF_EVENT_LOOP), 1);
    for (unsigned i = 0; i < seen_count; i++) {
        struct prof_event_loop_row found;

        memcpy(&found, seen[i].fields, sizeof found);
        if (seen[i].kind != PROF_EVENT_LOOP_ROW ||
            found.site != prof_loop_site_number(site))
            continue;
        *row = found;
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
    struct prof_event_loop_row row;
    uint64_t pending_since = prof_loop_hosted_tsc - 17;

    oldest.created = pending_since;
    site->oldest = &oldest;
    site->calls = 0x100000001;
    site->ends[PROF_LOOP_RESOLVED] = 0x200000002;
    site->ends[PROF_LOOP_FAILED] = 0x300000003;
    site->ends[PROF_LOOP_CANCELLED] = 0x400000004;
    site->pending = 5;
    node->own_cycles = 0x600000006;
    child->own_cycles = 0x100000000;
    site->longest_cycles = 0x800000008;
    site->longest_tsc = 0x900000009;
    site->longest_object = 10;
    add_values(PROF_LOOP_RUN, 11, 1000);
    add_values(PROF_LOOP_DELAY, 12, 10000);
    site->delay_cycles = 0x1300000013;
    add_values(PROF_LOOP_WALL, 14, 100000);
    site->wall_cycles = 0x1500000015;
    site->held = 0x1600000016;
    site->held_cycles = 0x1700000017;
    assert_int_equal(rows_of_round(&row), 1);
    assert_int_equal(row.calls, site->calls);
    assert_int_equal(row.resolved, site->ends[PROF_LOOP_RESOLVED]);
    assert_int_equal(row.failed, site->ends[PROF_LOOP_FAILED]);
    assert_int_equal(row.cancelled, site->ends[PROF_LOOP_CANCELLED]);
    assert_int_equal(row.pending, 5);
    assert_int_equal(row.oldest, prof_loop_hosted_tsc - pending_since);
    assert_int_equal(row.own, 0x600000006);
    assert_int_equal(row.total, 0x700000006);
    assert_int_equal(row.longest, site->longest_cycles);
    assert_int_equal(row.longest_begin, site->longest_tsc);
    assert_int_equal(row.longest_task, 10);
    assert_int_equal(row.runs, 22);
    assert_int_equal(row.delays, 24);
    assert_int_equal(row.delay, site->delay_cycles);
    assert_int_equal(row.walls, 28);
    assert_int_equal(row.wall, site->wall_cycles);
    assert_int_equal(row.held, site->held);
    assert_int_equal(row.held_time, site->held_cycles);
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

TEST(a_row_comes_when_any_number_has_changed)
{
    uint64_t *const numbers[] = {
        &site->calls,
        &site->ends[PROF_LOOP_RESOLVED],
        &site->ends[PROF_LOOP_FAILED],
        &site->ends[PROF_LOOP_CANCELLED],
        &node->own_cycles,
        &child->own_cycles,
        &site->longest_cycles,
        &site->longest_tsc,
        &site->delay_cycles,
        &site->wall_cycles,
        &site->held,
        &site->held_cycles,
    };
    struct prof_event_loop_row row;

    assert_int_equal(rows_of_round(&row), 1);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (unsigned bit = 0; bit < 64; bit += 33) { /* low, high */
            assert_int_equal(rows_of_round(&row), 0);
            *numbers[i] ^= (uint64_t)1 << bit;
            if (rows_of_round(&row) != 1)
                fail_msg("number %zu, bit %u: no row", i, bit);
        }
    for (unsigned i = 0; i < PROF_LOOP_MEASURES; i++) {
        assert_int_equal(rows_of_round(&row), 0);
        add_values((enum prof_loop_measure)i, 1, 1000);
        assert_int_equal(rows_of_round(&row), 1);
    }
}
