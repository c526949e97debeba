/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of loop occupancy: what a stream says, and differences of it; and
 * streams whose rounds cannot be true, or are not all there. */

#include "../unit.h"

#include "event_script.h"
#include "occupancy/occupancy.h"

enum { IDLE, SERVER, CLIENT }; /* sites */

static struct made made;
static struct occupancy occupancy;

static void set_up(void)
{
    made = (struct made){.packet_room = PROF_PACKET_DEFAULT, .step = 10};
    occupancy = (struct occupancy){0};
    made_hello(&made, 64);
}

static void tear_down(void)
{
    free(made.bytes);
    occupancy_free(&occupancy);
}

static void take(void *owner, const struct packet *packet)
{
    occupancy_take(owner, packet);
}

/* Reads what was made, without the packets (from) to (to), and finishes. */
static void read_without(size_t from, size_t to)
{
    struct packet_sink sink = {take, &occupancy};
    uint64_t garbage = 0;

    made_word(&made, PROF_EVENT_BYE, 0); /* which ends the last round */
    made_flush(&made);
    for (size_t i = 0; i < made.sequence; ++i) {
        size_t bytes;
        const uint8_t *packet = made_packet(&made, i, &bytes);

        if (i < from || i >= to)
            packet_scan(packet, bytes, true, &sink, &garbage);
    }
    assert_int_equal(garbage, 0);
    occupancy_finish(&occupancy);
}

static void read_all(void)
{
    read_without(0, 0);
}

/* The kinds of problems that were found, "" = none. */
static void problems_are(const char *expected)
{
    static const char *const names[OCCUPANCY_PROBLEM_KINDS] = {
        [OCCUPANCY_MISSED] = "missed",
        [OCCUPANCY_STRAY] = "stray",
        [OCCUPANCY_TWICE] = "twice",
        [OCCUPANCY_NO_PLACE] = "no_place",
        [OCCUPANCY_NO_BUCKET] = "no_bucket",
        [OCCUPANCY_NO_KIND] = "no_kind",
        [OCCUPANCY_NOT_WALL] = "not_wall",
        [OCCUPANCY_NOT_SITES] = "not_sites",
        [OCCUPANCY_NOT_TOTAL] = "not_total",
        [OCCUPANCY_NOT_CALLS] = "not_calls",
        [OCCUPANCY_BACK] = "back",
        [OCCUPANCY_NOT_KEPT] = "not_kept",
    };
    char found[200] = "", text[OCCUPANCY_TEXT_MAX];

    for (unsigned i = 0; i < OCCUPANCY_PROBLEM_KINDS; ++i) {
        if (occupancy.problems[i].count == 0)
            continue;
        strcat(found, found[0] != '\0' ? " " : "");
        strcat(found, names[i]);
        assert_true(strlen(occupancy_problem_text(
                        &occupancy, (enum occupancy_problem_kind)i, text)) >
                    20);
    }
    assert_string_equal(found, expected);
}

/* Reads all, and finds problems of these kinds. */
static void reads_with(const char *problems)
{
    read_all();
    problems_are(problems);
}

static void put_places(void)
{
    made_script(&made, "loop_site 0 5 0 idle; loop_site 1 0 11 server@a/b.c;"
                       "loop_site 2 1 22 cli@ent@c.c");
}

/* A round at (second) with (more) of its account; wall is the time until
 * then. */
static void begin_round(unsigned second, const char *more)
{
    made_flush(&made); /* a packet has the whole clock */
    made.step = 0;
    made.time = second * 10000000ull;
    made_script(&made, "loop wall=%llu %s", second * 2000000000ull, more);
}

/* A round at (second) of two sites, and idleness: the first has called the
 * second. All is in proportion to the time. */
static void put_round(unsigned second)
{
    const unsigned long long part = second * 20000000ull; /* a hundredth */
    char account[200];

    snprintf(account, sizeof account,
             "tasks=%llu callbacks=%llu idle=%llu interrupts=%llu sampler=%llu "
             "stolen=%llu",
             10 * part, 20 * part, 57 * part, 9 * part, part, 3 * part);
    begin_round(second, account);
    put_places();
    made_script(&made, "loop_row site=0 own=%llu total=%llu", 57 * part,
                57 * part);
    made_script(&made,
                "loop_row site=1 calls=%u pending=1 runs=%u own=%llu "
                "total=%llu longest=7 run_p50=9",
                second, 2 * second, 10 * part, 30 * part);
    made_script(&made,
                "loop_row site=2 calls=%u runs=%u own=%llu total=%llu "
                "longest=%llu",
                3 * second, 4 * second, 20 * part, 20 * part, 50 * part);
    made_script(&made,
                "loop_context 0 0 0 0 1 %llu %llu; loop_context 1 1 1 0 1 %llu "
                "%llu; loop_context 2 1 2 0 1 %llu %llu",
                57 * part, 57 * part, 10 * part, 30 * part, 20 * part,
                20 * part);
    made_script(&made, "loop_bucket 1 0 5 %u; loop_bucket 2 0 160 %u",
                2 * second, 4 * second);
}

static bool is_wrong(enum occupancy_problem_kind kind)
{
    return occupancy_is_wrong(&occupancy, kind);
}

FIXTURE(set_up, tear_down);

TEST(a_round_is_read)
{
    const struct occupancy_snapshot *now = &occupancy.now;
    uint64_t parts[OCCUPANCY_PARTS];

    put_round(10);
    reads_with("");
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

    put_round(10);
    made_script(&made, "loop_context 3 1 77 0 1 0 0");
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

    put_round(10);
    begin_round(11, "tasks=4000000000 callbacks=4000000000 idle=11400000000 "
                    "interrupts=1800000000 sampler=200000000 stolen=600000000");
    made_script(&made, "loop_row site=1 own=4000000000 total=8000000000");
    reads_with("");
    assert_int_equal(occupancy.rounds, 2);
    assert_int_equal(now->sites[SERVER].row.own, 4000000000);
    assert_int_equal(now->sites[CLIENT].row.own, 4000000000);
    assert_int_equal(now->nodes[1].counts.own, 2000000000);
    assert_int_equal(occupancy_values(now->sites[SERVER].buckets[0]), 20);
}

/* A round that nothing follows may be cut: the one before is the last. */
TEST(a_later_event_ends_a_round)
{
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
    put_places();
    begin_round(1, "tasks=2000000000");
    made_flush(&made);
    read_without(made.sequence, made.sequence + 1);
    problems_are("not_sites");
    assert_false(occupancy_is_wrong(&occupancy, OCCUPANCY_NOT_SITES));
    assert_int_equal(occupancy.now.account.wall, 2000000000);
}

TEST(a_time_is_a_difference)
{
    const struct occupancy_snapshot *now = &occupancy.now;

    put_round(10);
    occupancy.from = made.time;
    put_round(15);
    put_round(35);
    occupancy.to = made.time;
    put_round(50);
    reads_with("");
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

    put_round(10);
    occupancy.from = made.time;
    put_round(12);
    made_flush(&made);
    made.time = 130000000;
    made_script(&made, "loop wall=700 tasks=700; loop_row site=1 own=700 "
                       "total=700; loop_bucket 1 0 5 1");
    reads_with("");
    assert_int_equal(now->account.wall, 700);
    assert_int_equal(now->sites[SERVER].row.own, 700);
    assert_false(now->sites[CLIENT].present);
    assert_int_equal(occupancy_values(now->sites[SERVER].buckets[0]), 1);
}

/* Seconds after it, more than was counted before it. */
TEST(a_reset_is_seen_late)
{
    put_round(2);
    occupancy.from = made.time;
    begin_round(5, "idle=10000000000");
    made_script(&made, "loop_row site=0 own=10000000000 total=10000000000");
    made_flush(&made);
    made.time = 120000000;
    made_script(&made, "loop wall=12000000000 idle=12000000000; loop_row "
                       "site=0 own=12000000000 total=12000000000");
    read_all();
    assert_int_equal(occupancy.problems[OCCUPANCY_BACK].count, 0);
    assert_int_equal(occupancy.now.account.wall, 12000000000);
    assert_false(occupancy.now.sites[SERVER].present);
}

/* ---- histograms */

TEST(buckets_are_narrow)
{
    for (unsigned i = 0; i < 100000; ++i) {
        uint64_t value = unit_number();
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
        values[i] = unit_random() >> (24 + unit_random() % 40);
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
    unsigned long long idle = 0;

    put_places();
    for (unsigned second = 1; second <= 90; ++second) {
        char account[100];

        idle += (second <= 30 ? 90 : second <= 80 ? 50 : 20) * 20000000ull;
        snprintf(account, sizeof account, "idle=%llu interrupts=%llu", idle,
                 second * 2000000000ull - idle);
        begin_round(second, account);
        made_script(&made, "loop_row site=0 own=%llu total=%llu", idle, idle);
    }
    reads_with("");
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
    made_script(&made, "loop_freeze site=2 outer=1 task=17 held=500 "
                       "address_0=0x100010 address_1=0x100020;"
                       "loop_held site=2 task=17 own=1000 samples=8 "
                       "function_1=0x100010 samples_1=6 function_2=0x100020 "
                       "samples_2=2");
    put_round(10);
    reads_with("");
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
    begin_round(1, "idle=2000000000");
    made_script(&made, "loop_site 7 0 0 user@host");
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

TEST(sites_are_sorted)
{
    static const struct {
        enum occupancy_order order;
        const char *sites;
    } orders[] = {
        {OCCUPANCY_BY_SELF, "zcab"},  {OCCUPANCY_BY_LONGEST, "acbz"},
        {OCCUPANCY_BY_DELAY, "bcaz"}, {OCCUPANCY_BY_LIFE, "bacz"},
        {OCCUPANCY_BY_CALLS, "abcz"}, {OCCUPANCY_BY_PENDING, "cbaz"},
        {OCCUPANCY_BY_NAME, "abcz"},  {OCCUPANCY_BY_TOTAL, "zbca"},
    };

    begin_round(1, "tasks=60 idle=1999999940");
    made_script(&made,
                "loop_site 0 5 0 zz; loop_site 1 0 1 a@; loop_site 2 0 1 b@;"
                "loop_site 3 0 1 c@; loop_row site=0 own=1999999940 "
                "total=1999999940;"
                "loop_row site=1 calls=9 pending=1 own=20 total=20 longest=20 "
                "delay=1 wall=5;"
                "loop_row site=2 calls=8 pending=2 own=10 total=40 longest=5 "
                "delay=3 wall=6;"
                "loop_row site=3 calls=7 pending=3 own=30 total=30 longest=15 "
                "delay=2 wall=4");
    reads_with("");
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

/* ---- problems */

/* The packet with the first round's rows is missing: those of the second are
 * what has been counted since then as well. */
TEST(a_missing_packet_is_made_up_for)
{
    size_t at;

    made.packet_room = 700;
    put_round(10);
    made_flush(&made);
    at = made.sequence - 2;
    put_round(20);
    read_without(at, at + 1);
    problems_are("missed");
    assert_int_equal(occupancy.now.account.wall, 40000000000);
    assert_false(is_wrong(OCCUPANCY_MISSED));
}

TEST(a_late_reader_waits_for_the_next)
{
    made.packet_room = 300;
    put_round(10);
    made_flush(&made);
    assert_true(made.sequence > 3);
    made_hello(&made, 64);
    put_round(20);
    read_without(0, 3);
    problems_are("");
    assert_int_equal(occupancy.rounds, 1);
    assert_int_equal(occupancy.now.account.wall, 40000000000);
}

/* A row that did not change since then is not there, and not an error. */
TEST(missing_rows_are_no_error)
{
    made.packet_room = PROF_PACKET_MAX;
    made_flush(&made);
    put_round(10);
    made_flush(&made);
    begin_round(20, "tasks=2000000000 callbacks=4000000000 idle=34000000000");
    made_script(&made, "loop_row site=0 own=34000000000 total=34000000000");
    made_hello(&made, 64);
    read_without(1, 2);
    problems_are("missed no_place not_sites");
    for (unsigned i = 0; i < OCCUPANCY_PROBLEM_KINDS; ++i)
        assert_false(is_wrong((enum occupancy_problem_kind)i));
}

TEST(rows_without_an_account_are_wrong)
{
    made_script(&made,
                "loop_row site=1 own=1 total=1; loop_context 1 1 1 0 1 1 1");
    put_round(10);
    made.step = 10;
    made_script(&made, "loop_bucket 1 0 1 1");
    reads_with("stray");
    assert_int_equal(occupancy.problems[OCCUPANCY_STRAY].count, 3);
    assert_true(is_wrong(OCCUPANCY_STRAY));
}

TEST(rows_that_come_twice_are_wrong)
{
    put_round(10);
    made_script(&made, "loop_row site=1 own=2000000000 total=6000000000");
    reads_with("twice");
    assert_int_equal(occupancy.problems[OCCUPANCY_TWICE].number, SERVER);
}

TEST(sites_that_are_not_defined_are_wrong)
{
    made_script(&made, "loop_site 5 7 1 a kind that there is not");
    begin_round(1, "tasks=2000000000");
    made_script(&made, "loop_row site=7 own=2000000000 total=2000000000");
    reads_with("no_place no_kind");
    assert_string_equal(occupancy_name(&occupancy, 1), "[site 7]");
    assert_true(is_wrong(OCCUPANCY_NO_PLACE));
    assert_true(is_wrong(OCCUPANCY_NO_KIND));
}

TEST(sums_that_differ_are_wrong)
{
    char text[OCCUPANCY_TEXT_MAX];

    put_places();
    begin_round(1, "tasks=1000000000 idle=999999999");
    made_script(&made,
                "loop_row site=1 own=999999998 total=999999998; loop_row "
                "site=0 own=999999999 total=999999999; loop_context 1 1 1 0 1 "
                "999999995 0; loop_context 2 2 0 0 1 999999999 0");
    reads_with("not_wall not_sites not_total");
    assert_int_equal(occupancy.problems[OCCUPANCY_NOT_WALL].number, 1);
    assert_int_equal(occupancy.problems[OCCUPANCY_NOT_SITES].number, 2);
    assert_int_equal(occupancy.problems[OCCUPANCY_NOT_TOTAL].number, 3);
    occupancy_problem_text(&occupancy, OCCUPANCY_NOT_TOTAL, text);
    assert_string_equal(text, "at 1.0000000 s: the total of a site differs "
                              "from that of the tree by 3 cycles");
}

/* Of tasks and of futures, and between two rounds. */
TEST(calls_are_taken_and_subtracted)
{
    const struct occupancy_site *client, *nap;

    put_round(10);
    made_script(&made, "loop_site 2 0 1 client; loop_site 5 6 7 nap@file;"
                       "loop_calls 2;"
                       "loop_row site=5 calls=3 walls=2;"
                       "loop_call 2 4 400 300 7 70 0 0 0; loop_bucket 2 3 64 4;"
                       "loop_call 5 2 90 64 7 71 0 0 0; loop_bucket 5 2 64 2");
    occupancy.from = made.time;
    put_round(20);
    made_script(&made,
                "loop_calls 5;"
                "loop_row site=5 calls=4 walls=3;"
                "loop_call 2 6 500 300 7 70 0 0 0; loop_bucket 2 3 64 6;"
                "loop_call 5 3 990 900 9 75 0 0 0; loop_bucket 5 2 64 3");
    reads_with("");
    client = &occupancy.now.sites[2];
    nap = &occupancy.now.sites[3];
    assert_true(occupancy.now.has_calls && nap->future && !client->future);
    assert_int_equal(nap->kind, OCCUPANCY_TASKS);
    assert_int_equal(occupancy.now.calls_refused, 3);
    assert_int_equal(client->call.calls, 2);
    assert_int_equal(client->call.time, 100);
    assert_int_equal(client->call.longest, 65); /* of the histogram */
    assert_int_equal(client->call.longest_task, 0);
    assert_int_equal(client->call.p50, 65);
    assert_int_equal(nap->call.calls, 1);
    assert_int_equal(nap->call.longest, 900); /* it came since then */
    assert_int_equal(nap->call.longest_task, 75);
}

TEST(a_call_that_is_longer_than_all_is_wrong)
{
    put_round(10);
    made_script(&made, "loop_call 2 4 299 300");
    reads_with("not_calls");
}

FIXTURE(NULL, NULL);

/* Totals against another way to find them: right ones, then one that is not. */
TEST(totals_are_those_of_the_tree)
{
    for (unsigned wrong = 0; wrong < 2; ++wrong) {
        set_up();
        made_script(&made, "loop_site 0 0 1 x; loop_site 1 0 1 x;"
                           "loop_site 2 0 1 x");
        begin_round(1, "tasks=2000000000");
        made_script(&made, /* 0 is again below itself */
                    "loop_row site=0 own=1999999000 total=2000000000;"
                    "loop_row site=1 own=300 total=%u;"
                    "loop_row site=2 own=700 total=700;"
                    "loop_context 0 0 0 0 1 1999998900 0;"
                    "loop_context 1 0 1 0 1 100 0;"
                    "loop_context 2 1 0 0 1 100 0;"
                    "loop_context 3 0 2 0 1 500 0;"
                    "loop_context 4 2 2 0 1 200 0;"
                    "loop_context 5 0 1 0 1 200 0",
                    600 + wrong);
        reads_with(wrong ? "not_total" : "");
        tear_down();
    }
}

FIXTURE(set_up, tear_down);

TEST(broken_histograms_are_wrong)
{
    put_round(10);
    made_script(
        &made,
        "loop_bucket 1 4 0 1; loop_bucket 1 0 65 1"); /* in one, but no begin */
    reads_with("no_bucket");
    assert_int_equal(occupancy.problems[OCCUPANCY_NO_BUCKET].count, 2);
}

TEST(counts_that_go_back_are_wrong)
{
    put_round(10);
    occupancy.from = made.time;
    put_round(20);
    made_script(&made, "loop_row site=2 own=3999999999 total=1");
    read_all();
    assert_int_equal(occupancy.problems[OCCUPANCY_BACK].count, 1);
    assert_true(is_wrong(OCCUPANCY_BACK));
}
