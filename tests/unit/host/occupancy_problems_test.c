/* SPDX-License-Identifier: Apache-2.0 */
/* Streams whose rounds of loop occupancy cannot be true, or are not all there.
 */

#include "../unit.h"

#include "occupancy_reader.h"

static bool is_wrong(enum occupancy_problem_kind kind)
{
    return occupancy_is_wrong(&occupancy, kind);
}

FIXTURE(set_up, tear_down);

/* The packet with the first round's rows is missing: those of the second are
 * what has been counted since then as well. */
TEST(a_missing_packet_is_made_up_for)
{
    size_t at;

    made.packet_room = 700;
    begin_stream();
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
    begin_stream();
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
    begin_stream();
    made_flush(&made);
    put_round(10);
    made_flush(&made);
    begin_round(20, (struct prof_event_loop){.tasks = 2000000000,
                                             .callbacks = 4000000000,
                                             .idle = 34000000000});
    put_row(IDLE, 34000000000, 34000000000);
    made_hello(&made, 64);
    read_without(1, 2);
    problems_are("missed no_place not_sites");
    for (unsigned i = 0; i < OCCUPANCY_PROBLEM_KINDS; ++i)
        assert_false(is_wrong((enum occupancy_problem_kind)i));
}

TEST(rows_without_an_account_are_wrong)
{
    begin_stream();
    put_row(SERVER, 1, 1);
    put_node(1, 1, SERVER, 1, 1);
    put_round(10);
    made.step = 10;
    made_loop_bucket(&made, SERVER, 0, 1, 1);
    read_all();
    problems_are("stray");
    assert_int_equal(occupancy.problems[OCCUPANCY_STRAY].count, 3);
    assert_true(is_wrong(OCCUPANCY_STRAY));
}

TEST(rows_that_come_twice_are_wrong)
{
    begin_stream();
    put_round(10);
    put_row(SERVER, 2000000000, 6000000000);
    read_all();
    problems_are("twice");
    assert_int_equal(occupancy.problems[OCCUPANCY_TWICE].number, SERVER);
}

TEST(sites_that_are_not_defined_are_wrong)
{
    begin_stream();
    made_loop_site(&made, 5, 6, 1, "a kind that there is not");
    begin_round(1, (struct prof_event_loop){.tasks = 2000000000});
    put_row(7, 2000000000, 2000000000);
    read_all();
    problems_are("no_place no_kind");
    assert_string_equal(occupancy_name(&occupancy, 1), "[site 7]");
    assert_true(is_wrong(OCCUPANCY_NO_PLACE));
    assert_true(is_wrong(OCCUPANCY_NO_KIND));
}

TEST(sums_that_differ_are_wrong)
{
    char text[OCCUPANCY_TEXT_MAX];

    begin_stream();
    put_places();
    begin_round(
        1, (struct prof_event_loop){.tasks = 1000000000, .idle = 999999999});
    put_row(SERVER, 999999998, 999999998);
    put_row(IDLE, 999999999, 999999999);
    put_node(1, 1, SERVER, 999999995, 0);
    put_node(2, 2, IDLE, 999999999, 0);
    read_all();
    problems_are("not_wall not_sites not_total");
    assert_int_equal(occupancy.problems[OCCUPANCY_NOT_WALL].number, 1);
    assert_int_equal(occupancy.problems[OCCUPANCY_NOT_SITES].number, 2);
    assert_int_equal(occupancy.problems[OCCUPANCY_NOT_TOTAL].number, 3);
    occupancy_problem_text(&occupancy, OCCUPANCY_NOT_TOTAL, text);
    assert_string_equal(text, "at 1.0000000 s: the total of a site differs "
                              "from that of the tree by 3 cycles");
}

FIXTURE(NULL, NULL);

/* Totals against another way to find them: right ones, then one that is not. */
TEST(totals_are_those_of_the_tree)
{
    for (unsigned wrong = 0; wrong < 2; ++wrong) {
        set_up();
        begin_stream();
        for (uint16_t i = 0; i < 3; ++i)
            made_loop_site(&made, i, 0, 1, "x");
        begin_round(1, (struct prof_event_loop){.tasks = 2000000000});
        put_row(0, 1999999000, 2000000000); /* again below itself */
        put_row(1, 300, 600 + wrong);
        put_row(2, 700, 700);
        put_node(0, 0, 0, 1999998900, 0);
        put_node(1, 0, 1, 100, 0);
        put_node(2, 1, 0, 100, 0);
        put_node(3, 0, 2, 500, 0);
        put_node(4, 2, 2, 200, 0);
        put_node(5, 0, 1, 200, 0);
        read_all();
        problems_are(wrong ? "not_total" : "");
        tear_down();
    }
}

FIXTURE(set_up, tear_down);

TEST(broken_histograms_are_wrong)
{
    begin_stream();
    put_round(10);
    made_loop_bucket(&made, SERVER, 3, 0, 1);
    made_loop_bucket(&made, SERVER, 0, 65, 1); /* in one, but no begin */
    read_all();
    problems_are("no_bucket");
    assert_int_equal(occupancy.problems[OCCUPANCY_NO_BUCKET].count, 2);
}

TEST(counts_that_go_back_are_wrong)
{
    begin_stream();
    put_round(10);
    occupancy.from = made.time;
    put_round(20);
    put_row(CLIENT, 4000000000 - 1, 1);
    read_all();
    assert_int_equal(occupancy.problems[OCCUPANCY_BACK].count, 1);
    assert_true(is_wrong(OCCUPANCY_BACK));
}
