/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Two clocks from messages: with random clocks and delays the truth is within
 * the stated error, and where messages are many the error is half of the two
 * shortest delays.
 */

#include "../unit.h"

#include "timeline/clocks.h"

#include <math.h>

#define ROUNDS 400
#define MANY 500u

/* What is true: at x of B's clock, A's is so much more. */
struct truth {
    double more;
    double rate;
};

static double more_at(const struct truth *truth, double x)
{
    return truth->more + truth->rate * x;
}

/* Bounds from messages with delays of at least (shortest). */
static void make_bounds(const struct truth *truth, struct match_bound *bounds,
                        size_t count, double length, double shortest,
                        double sign)
{
    for (size_t i = 0; i < count; ++i) {
        double x = unit_part() * (length);
        double delay =
            shortest +
            (unit_part() * (4) < 1 ? 0 : unit_part() * (20 * shortest));

        bounds[i] =
            (struct match_bound){1e9 + x, more_at(truth, x) + sign * delay};
    }
}

static void check_clock(const struct truth *truth,
                        const struct match_clock *clock)
{
    for (int i = 0; i <= 10; ++i) {
        double x = (clock->end - clock->begin) * i / 10;
        double found = clock->more + clock->rate * x;
        double real = more_at(truth, clock->begin - 1e9 + x);

        assert_true(fabs(found - real) <= clock->error * 1.000001 + 1e-3);
    }
}

TEST(the_truth_is_within_the_error)
{
    static struct match_bound least[MANY], most[MANY];

    for (unit_seed = 1; unit_seed <= ROUNDS; ++unit_seed) {
        uint64_t seed = unit_seed;
        struct truth truth = {unit_part() * (2e7) - 1e7,
                              unit_part() * (2e-3) - 1e-3};
        size_t some = 1 + (size_t)unit_part() * (MANY - 1);
        size_t more = 1 + (size_t)unit_part() * (MANY - 1);
        double length = 10 + unit_part() * (1e7),
               shortest = 1 + unit_part() * (5000);
        struct match_clock clock;

        make_bounds(&truth, least, some, length, shortest, -1);
        make_bounds(&truth, most, more, length, shortest, 1);
        assert_true(match_clocks(least, some, most, more, &clock));
        check_clock(&truth, &clock);
        unit_seed = seed;
    }
}

TEST(many_messages_leave_the_shortest_delays)
{
    static struct match_bound least[MANY], most[MANY];
    const struct truth truth = {12345, 5e-5};
    struct match_clock clock;

    unit_seed = 7;
    make_bounds(&truth, least, MANY, 1e8, 200, -1);
    make_bounds(&truth, most, MANY, 1e8, 200, 1);
    assert_true(match_clocks(least, MANY, most, MANY, &clock));
    check_clock(&truth, &clock);
    assert_true(clock.error < 210);
    assert_true(fabs(clock.rate - truth.rate) < 1e-5);
}

/* A rate beyond the usual one is found if nothing else will do. */
TEST(a_clock_may_be_bad)
{
    static struct match_bound least[MANY], most[MANY];
    const struct truth truth = {0, 0.03};
    struct match_clock clock;

    unit_seed = 9;
    make_bounds(&truth, least, MANY, 1e8, 200, -1);
    make_bounds(&truth, most, MANY, 1e8, 200, 1);
    assert_true(match_clocks(least, MANY, most, MANY, &clock));
    check_clock(&truth, &clock);
    assert_true(fabs(clock.rate - truth.rate) < 1e-4);
}

TEST(strange_bounds_are_left_out)
{
    static struct match_bound least[MANY], most[MANY];
    const struct truth truth = {-5000, 0};
    struct match_clock clock;

    unit_seed = 11;
    make_bounds(&truth, least, MANY, 1e7, 200, -1);
    make_bounds(&truth, most, MANY, 1e7, 200, 1);
    least[17].more += 3e8;
    most[5].more -= 4e9;
    assert_true(match_clocks(least, MANY, most, MANY, &clock));
    check_clock(&truth, &clock);
}

TEST(what_contradicts_itself_is_nothing)
{
    struct match_bound least[] = {{0, 10}, {1000, 10}};
    struct match_bound most[] = {{0, -10}, {1000, -10}};
    struct match_clock clock;

    assert_false(match_clocks(least, 2, most, 2, &clock));
    assert_false(match_clocks(least, 0, most, 2, &clock));
    assert_false(match_clocks(least, 2, most, 0, &clock));
    most[0].more = least[0].more = 7;
    assert_true(match_clocks(least, 1, most, 1, &clock));
    assert_true(clock.more == 7 && clock.rate == 0 && clock.error == 0);
}

/* Of each message both ends, once; what is there twice is left out. */
TEST(messages_are_paired)
{
    struct tasks_message sent[] = {
        {.time = 1, .message = 5, .sent = true},
        {.time = 2, .message = 6, .sent = true},
        {.time = 3, .message = 7, .sent = true},
        {.time = 4, .message = 5, .sent = false},
        {.time = 5, .message = 7, .sent = true},
        {.time = 6, .message = 8, .sent = true},
        {.time = 7, .message = 9, .sent = true},
    };
    struct tasks_message received[] = {
        {.time = 1, .message = 8, .sent = false},
        {.time = 2, .message = 5, .sent = false},
        {.time = 3, .message = 6, .sent = true},
        {.time = 4, .message = 7, .sent = false},
        {.time = 5, .message = 9, .sent = false},
        {.time = 6, .message = 9, .sent = false},
    };
    const struct tasks from = {.messages = sent, .message_count = 7};
    const struct tasks to = {.messages = received, .message_count = 6};
    size_t count;
    struct match_pair *pairs = match_messages(&from, &to, &count);

    assert_int_equal(count, 2);
    assert_int_equal(pairs[0].sent, 0);
    assert_int_equal(pairs[0].received, 1);
    assert_int_equal(pairs[1].sent, 5);
    assert_int_equal(pairs[1].received, 0);
    free(pairs);
}
