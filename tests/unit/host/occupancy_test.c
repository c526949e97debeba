/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of loop occupancy: what a stream says, and differences of it. */

#include "../unit.h"

#include "occupancy_reader.h"

FIXTURE(set_up, tear_down);

TEST(a_round_is_read)
{
    const struct occupancy_snapshot *now = &occupancy.now;
    uint64_t parts[OCCUPANCY_PARTS];

    begin_stream();
    put_round(10);
    read_all();
    problems_are("");
    assert_int_equal(occupancy.rounds, 1);
    assert_int_equal(occupancy.tsc_hz, 2000000000u);
    occupancy_account(now, parts);
    assert_int_equal(parts[OCCUPANCY_TASKS], 2000000000);
    assert_int_equal(parts[OCCUPANCY_CALLBACKS], 4000000000);
    assert_int_equal(parts[OCCUPANCY_OTHERS], 0);
    assert_int_equal(parts[OCCUPANCY_WALL], 20000000000);
    assert_int_equal(now->site_count, 3);
    assert_string_equal(occupancy_name(&occupancy, IDLE), "idle");
    assert_string_equal(occupancy_file(&occupancy, IDLE), "");
    assert_string_equal(occupancy_name(&occupancy, SERVER), "server");
    assert_string_equal(occupancy_file(&occupancy, SERVER), "a/b.c");
    assert_int_equal(occupancy_line(&occupancy, SERVER), 11);
    assert_string_equal(occupancy_name(&occupancy, CLIENT), "cli@ent");
    assert_string_equal(occupancy_file(&occupancy, CLIENT), "c.c");
    assert_int_equal(now->sites[SERVER].kind, OCCUPANCY_TASKS);
    assert_int_equal(now->sites[SERVER].row.own, 2000000000);
    assert_int_equal(now->sites[CLIENT].kind, OCCUPANCY_CALLBACKS);
    assert_int_equal(now->nodes[2].parent, 1);
    assert_int_equal(now->nodes[1].parent, OCCUPANCY_NONE);
    assert_int_equal(occupancy_values(now->sites[CLIENT].buckets[0]), 40);
    assert_null(now->sites[CLIENT].buckets[1]);
}

/* Neither has the other site: its number is known from a context alone. */
TEST(a_context_may_have_no_site)
{
    const struct occupancy_snapshot *now = &occupancy.now;

    begin_stream();
    put_round(10);
    put_node(3, 1, 77, 0, 0);
    read_all();
    assert_int_equal(now->node_count, 4);
    assert_true(now->nodes[3].site >= now->site_count);
    assert_string_equal(occupancy_name(&occupancy, now->nodes[3].site),
                        "[site 77]");
    assert_int_equal(occupancy_kind(now, now->nodes[3].site), OCCUPANCY_OTHERS);
    assert_int_equal(occupancy_kind(now, now->nodes[0].site), OCCUPANCY_IDLE);
}

TEST(what_has_not_changed_is_not_repeated)
{
    const struct occupancy_snapshot *now = &occupancy.now;

    begin_stream();
    put_round(10);
    begin_round(11, (struct prof_event_loop){.tasks = 4000000000,
                                             .callbacks = 4000000000,
                                             .idle = 11400000000,
                                             .interrupts = 1800000000,
                                             .sampler = 200000000,
                                             .stolen = 600000000});
    put_row(SERVER, 4000000000, 8000000000);
    read_all();
    problems_are("");
    assert_int_equal(occupancy.rounds, 2);
    assert_int_equal(now->sites[SERVER].row.own, 4000000000);
    assert_int_equal(now->sites[CLIENT].row.own, 4000000000);
    assert_int_equal(now->nodes[1].counts.own, 2000000000);
    assert_int_equal(occupancy_values(now->sites[SERVER].buckets[0]), 20);
}

/* A round that nothing follows may be cut: the one before is the last. */
TEST(a_later_event_ends_a_round)
{
    begin_stream();
    put_round(10);
    put_round(20);
    made_flush(&made);
    read_without(made.sequence, made.sequence + 1); /* without the last event */
    problems_are("");
    assert_int_equal(occupancy.rounds, 1);
    assert_int_equal(occupancy.now.account.wall, 20000000000);
}

TEST(a_round_alone_may_be_cut)
{
    begin_stream();
    put_places();
    begin_round(1, (struct prof_event_loop){.tasks = 2000000000});
    made_flush(&made);
    read_without(made.sequence, made.sequence + 1);
    problems_are("not_sites");
    assert_false(occupancy_is_wrong(&occupancy, OCCUPANCY_NOT_SITES));
    assert_int_equal(occupancy.now.account.wall, 2000000000);
}

TEST(a_time_is_a_difference)
{
    const struct occupancy_snapshot *now = &occupancy.now;

    begin_stream();
    put_round(10);
    occupancy.from = made.time;
    put_round(15);
    put_round(35);
    occupancy.to = made.time;
    put_round(50);
    read_all();
    problems_are("");
    assert_int_equal(now->account.wall, 50000000000);
    assert_int_equal(now->sites[SERVER].row.own, 5000000000);
    assert_int_equal(now->sites[SERVER].row.total, 15000000000);
    assert_int_equal(now->sites[SERVER].row.calls, 25);
    assert_int_equal(now->sites[SERVER].row.pending, 1);
    assert_int_equal(now->nodes[2].counts.own, 10000000000);
    assert_int_equal(occupancy_values(now->sites[SERVER].buckets[0]), 50);
    assert_int_equal(occupancy_values(now->sites[CLIENT].buckets[0]), 100);
    /* that of site 1 was before: of its runs in that time only the range is
     * known; that of site 2 was the longest so far */
    assert_int_equal(now->sites[SERVER].row.longest, 5);
    assert_int_equal(now->sites[CLIENT].row.longest, 35000000000);
    assert_int_equal(now->sites[SERVER].row.run_p50, 5);
    assert_in_range(now->sites[CLIENT].row.run_p99, 160, 163);
}

/* The clock goes on, and what was counted begins at 0. */
TEST(a_reset_begins_anew)
{
    const struct occupancy_snapshot *now = &occupancy.now;

    begin_stream();
    put_round(10);
    occupancy.from = made.time;
    put_round(12);
    made_flush(&made);
    made.time = 130000000;
    made_loop(&made, (struct prof_event_loop){.wall = 700, .tasks = 700});
    made_loop_row(&made, (struct prof_event_loop_row){
                             .site = SERVER, .own = 700, .total = 700});
    made_loop_bucket(&made, SERVER, 0, 5, 1);
    read_all();
    problems_are("");
    assert_int_equal(now->account.wall, 700);
    assert_int_equal(now->sites[SERVER].row.own, 700);
    assert_false(now->sites[CLIENT].present);
    assert_int_equal(occupancy_values(now->sites[SERVER].buckets[0]), 1);
}

/* Seconds after it, more than was counted before it. */
TEST(a_reset_is_seen_late)
{
    begin_stream();
    put_round(2);
    occupancy.from = made.time;
    begin_round(5, (struct prof_event_loop){.idle = 10000000000});
    put_row(IDLE, 10000000000, 10000000000);
    made_flush(&made);
    made.time = 120000000;
    made_loop(&made, (struct prof_event_loop){.wall = 12000000000,
                                              .idle = 12000000000});
    put_row(IDLE, 12000000000, 12000000000);
    read_all();
    assert_int_equal(occupancy.problems[OCCUPANCY_BACK].count, 0);
    assert_int_equal(occupancy.now.account.wall, 12000000000);
    assert_false(occupancy.now.sites[SERVER].present);
}

static uint64_t random_bits(void)
{
    static uint64_t bits = 88172645463325252ull;

    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    return bits;
}

/* ---- histograms */

TEST(buckets_are_narrow)
{
    for (unsigned i = 0; i < 100000; ++i) {
        uint64_t value = random_bits() >> random_bits() % 64;
        uint32_t bucket = occupancy_bucket(value);
        uint64_t begin = occupancy_bucket_begin(bucket);
        uint64_t end = occupancy_bucket_begin(bucket + 1);

        assert_true(bucket < OCCUPANCY_BUCKETS);
        assert_true(begin <= value && (value < end || end == UINT64_MAX));
        assert_true(end - begin <= begin / 32 + 1);
    }
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

TEST(quantiles_are_right)
{
    static uint32_t buckets[OCCUPANCY_BUCKETS];
    static uint64_t values[5000];
    static const double shares[] = {0, 0.5, 0.9, 0.99, 0.999, 1};

    assert_int_equal(occupancy_quantile(buckets, 0.5), 0);
    for (unsigned i = 0; i < 5000; ++i) {
        values[i] = random_bits() >> (24 + random_bits() % 40);
        ++buckets[occupancy_bucket(values[i])];
    }
    qsort(values, 5000, sizeof *values, by_value);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; ++i) {
        size_t at = (size_t)(shares[i] * 5000);
        uint64_t exact = values[at < 5000 ? at : 4999];
        uint64_t found = occupancy_quantile(buckets, shares[i]);
        uint64_t off = found > exact ? found - exact : exact - found;

        assert_true(off <= exact / 32 + 1);
    }
    assert_int_equal(occupancy_values(buckets), 5000);
}

/* ---- how busy */

TEST(the_last_seconds_are_known)
{
    uint64_t idle = 0;

    begin_stream();
    put_places();
    for (unsigned second = 1; second <= 90; ++second) {
        idle += (second <= 30 ? 90 : second <= 80 ? 50 : 20) * 20000000ull;
        begin_round(second, (struct prof_event_loop){
                                .idle = idle,
                                .interrupts = second * 2000000000ull - idle});
        put_row(IDLE, idle, idle);
    }
    read_all();
    problems_are("");
    assert_float_equal(occupancy_lately(&occupancy, 1), 0.8, 1e-9);
    assert_float_equal(occupancy_lately(&occupancy, 10), 0.8, 1e-9);
    assert_float_equal(occupancy_lately(&occupancy, 60), 0.55, 1e-9);
    assert_float_equal(occupancy_lately(&occupancy, 100), -1, 1e-9);
    assert_float_equal(occupancy_busy(100, 25), 0.75, 1e-9);
    assert_float_equal(occupancy_busy(100, 100), 0, 1e-9);
    assert_float_equal(occupancy_busy(0, 0), 0, 1e-9);
}

/* ---- the rest */

TEST(long_runs_and_freezes_are_read)
{
    begin_stream();
    MADE_EVENT(&made, PROF_EVENT_LOOP_FREEZE,
               (struct prof_event_loop_freeze){.site = CLIENT,
                                               .outer = SERVER,
                                               .task = 17,
                                               .held = 500,
                                               .address_0 = 0x100010,
                                               .address_1 = 0x100020});
    MADE_EVENT(&made, PROF_EVENT_LOOP_HELD,
               (struct prof_event_loop_held){.site = CLIENT,
                                             .task = 17,
                                             .own = 1000,
                                             .samples = 8,
                                             .function_1 = 0x100010,
                                             .samples_1 = 6,
                                             .function_2 = 0x100020,
                                             .samples_2 = 2});
    put_round(10);
    read_all();
    problems_are("");
    assert_int_equal(occupancy.freeze_count, 1);
    assert_int_equal(occupancy.freezes[0].task, 17);
    assert_int_equal(occupancy.freezes[0].cycles, 500);
    assert_int_equal(occupancy.freezes[0].stack[1], 0x100020);
    assert_int_equal(occupancy.freezes[0].stack[2], 0);
    assert_string_equal(occupancy_name(&occupancy, occupancy.freezes[0].site),
                        "cli@ent");
    assert_string_equal(occupancy_name(&occupancy, occupancy.freezes[0].outer),
                        "server");
    assert_int_equal(occupancy.run_count, 1);
    assert_int_equal(occupancy.runs[0].cycles, 1000);
    assert_int_equal(occupancy.runs[0].functions[1].address, 0x100020);
    assert_int_equal(occupancy.runs[0].functions[1].samples, 2);
    assert_int_equal(occupancy.runs[0].functions[2].address, 0);
}

TEST(a_name_without_a_file_is_whole)
{
    begin_stream();
    begin_round(1, (struct prof_event_loop){.idle = 2000000000});
    made_loop_site(&made, 7, 0, 0, "user@host");
    read_all();
    for (uint32_t i = 0; i < occupancy.site_numbers.count; ++i) {
        if (occupancy.places[i].number != 7)
            continue;
        assert_string_equal(occupancy_name(&occupancy, i), "user@host");
        assert_string_equal(occupancy_file(&occupancy, i), "");
        return;
    }
    fail();
}

static void put_sites_to_sort(void)
{
    begin_stream();
    begin_round(1,
                (struct prof_event_loop){.tasks = 60, .idle = 2000000000 - 60});
    made_loop_site(&made, 0, 5, 0, "zz");
    made_loop_site(&made, 1, 0, 1, "a@");
    made_loop_site(&made, 2, 0, 1, "b@");
    made_loop_site(&made, 3, 0, 1, "c@");
    put_row(0, 2000000000 - 60, 2000000000 - 60);
    made_loop_row(&made, (struct prof_event_loop_row){.site = 1,
                                                      .calls = 9,
                                                      .pending = 1,
                                                      .own = 20,
                                                      .total = 20,
                                                      .longest = 20,
                                                      .delay = 1,
                                                      .wall = 5});
    made_loop_row(&made, (struct prof_event_loop_row){.site = 2,
                                                      .calls = 8,
                                                      .pending = 2,
                                                      .own = 10,
                                                      .total = 40,
                                                      .longest = 5,
                                                      .delay = 3,
                                                      .wall = 6});
    made_loop_row(&made, (struct prof_event_loop_row){.site = 3,
                                                      .calls = 7,
                                                      .pending = 3,
                                                      .own = 30,
                                                      .total = 30,
                                                      .longest = 15,
                                                      .delay = 2,
                                                      .wall = 4});
    read_all();
    problems_are("");
}

TEST(sites_are_sorted)
{
    static const struct {
        enum occupancy_order order;
        const char *sites;
    } orders[] = {
        {OCCUPANCY_BY_OWN, "zcab"},   {OCCUPANCY_BY_LONGEST, "acbz"},
        {OCCUPANCY_BY_DELAY, "bcaz"}, {OCCUPANCY_BY_LIFE, "bacz"},
        {OCCUPANCY_BY_CALLS, "abcz"}, {OCCUPANCY_BY_PENDING, "cbaz"},
        {OCCUPANCY_BY_NAME, "abcz"},  {OCCUPANCY_BY_TOTAL, "zbca"},
    };

    put_sites_to_sort();
    for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i) {
        uint32_t count;
        uint32_t *sites = occupancy_sorted(&occupancy, &occupancy.now,
                                           orders[i].order, &count);

        assert_int_equal(count, 4);
        for (unsigned j = 0; j < 4; ++j)
            assert_int_equal(occupancy_name(&occupancy, sites[j])[0],
                             orders[i].sites[j]);
        free(sites);
        assert_int_equal(
            occupancy_order_of(occupancy_order_word(orders[i].order)),
            orders[i].order);
    }
    assert_int_equal(occupancy_order_of("size"), OCCUPANCY_ORDERS);
}
