/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Intervals: against published values, at the ends of what there is, and by
 * simulation: they hold the truth as often as they say, and profiles of the
 * same program raise no alarm.
 */

#include "../unit.h"

#include <math.h>

#include "profile/interval.h"

#define FUNCTIONS 40
#define SAMPLES 2000

static void near(double is, double wanted, double within)
{
    if (fabs(is - wanted) > within)
        fail_msg("%.9f should be %.9f", is, wanted);
}

TEST(z_is_the_normal_quantile)
{
    near(interval_z(0.95, 1), 1.959963985, 1e-8);
    near(interval_z(0.99, 1), 2.575829304, 1e-8);
    near(interval_z(0.6826894921, 1), 1, 1e-8);
    near(interval_z(0.95, 5), interval_z(0.99, 1), 1e-8);
    near(interval_z(0.95, 0), 1.959963985, 1e-8);
}

/* Newcombe, Statistics in Medicine 17 (1998), pages 857-872, table I, method 3
 * (the score method without a correction for continuity). */
TEST(shares_are_as_published)
{
    static const struct {
        double hits, whole, low, high;
    } known[] = {
        {81, 263, 0.2553, 0.3662},
        {15, 148, 0.0624, 0.1605},
        {0, 20, 0, 0.1611},
        {1, 29, 0.0061, 0.1718},
    };
    double z = interval_z(0.95, 1);

    for (size_t i = 0; i < COUNT(known); ++i) {
        struct interval is = interval_share(known[i].hits, known[i].whole, z);

        near(is.low, known[i].low, 0.00005001);
        near(is.high, known[i].high, 0.00005001);
    }
}

/* The same volume, pages 873-890, table II, method 10. */
TEST(differences_are_as_published)
{
    static const struct {
        struct interval_pair pair;
        double low, high;
    } known[] = {
        {{48, 80, 56, 70}, 0.0524, 0.3339}, {{3, 10, 9, 10}, 0.1705, 0.8090},
        {{2, 7, 6, 7}, 0.0582, 0.8062},     {{0, 29, 5, 56}, -0.0381, 0.1926},
        {{0, 20, 0, 10}, -0.1611, 0.2775},  {{0, 10, 0, 10}, -0.2775, 0.2775},
        {{0, 20, 10, 10}, 0.6791, 1.0000},  {{0, 10, 10, 10}, 0.6075, 1.0000},
    };
    double z = interval_z(0.95, 1);

    for (size_t i = 0; i < COUNT(known); ++i) {
        struct interval is = interval_difference(&known[i].pair, z);

        near(is.low, known[i].low, 0.00005001);
        near(is.high, known[i].high, 0.00005001);
    }
}

TEST(ends_are_exact)
{
    struct interval_pair pair = {0, 0, 3, 7};
    struct interval is;

    is = interval_share(0, 1e12, 2);
    assert_true(is.low == 0 && is.high > 0);
    is = interval_share(7, 7, 2);
    assert_true(is.low < 1 && is.high == 1);
    is = interval_share(0, 0, 2);
    assert_true(is.low == 0 && is.high == 1);
    is = interval_difference(&pair, 2);
    assert_true(is.low == -1 && is.high == 1 && interval_is_noise(&is));
}

TEST(the_certain_change_is_the_near_bound)
{
    struct interval up = {0.1, 0.3}, down = {-0.3, -0.1}, noise = {-0.1, 0.3};

    near(interval_certain(&up), 0.1, 0);
    near(interval_certain(&down), -0.1, 0);
    near(interval_certain(&noise), 0, 0);
    assert_false(interval_is_noise(&up));
    assert_false(interval_is_noise(&down));
    assert_true(interval_is_noise(&noise));
}

TEST(a_tail_of_single_samples_is_not_compared)
{
    struct interval_pair wholes = {.base_whole = 2000, .new_whole = 2000};
    double totals[1004] = {2000, 1000, 500, 100};

    for (size_t i = 4; i < 1004; ++i)
        totals[i] = 1;
    near(interval_comparisons(totals, 1004, &wholes, 0.95), 4, 0);
    near(interval_comparisons(totals, 4, &wholes, 0.95), 4, 0);
    near(interval_comparisons(totals, 1, &wholes, 0.95), 1, 0);
    near(interval_comparisons(totals, 0, &wholes, 0.95), 1, 0);
    totals[0] = 4000; /* everything, in both */
    near(interval_comparisons(totals, 1, &wholes, 0.95), 1, 0);
}

/* ---- simulation, from a seed */

/* Shares of a program: a few hot functions and a long tail. */
static void make_program(double *shares)
{
    double sum = 0;

    for (int i = 0; i < FUNCTIONS; ++i)
        sum += shares[i] = pow(unit_part(), 6) + 1e-5;
    for (int i = 0; i < FUNCTIONS; ++i)
        shares[i] /= sum;
}

static void sample(const double *shares, double *hits)
{
    for (int i = 0; i < FUNCTIONS; ++i)
        hits[i] = 0;
    for (int i = 0; i < SAMPLES; ++i) {
        double left = unit_part();
        int at = 0;

        while (at < FUNCTIONS - 1 && (left -= shares[at]) >= 0)
            ++at;
        ++hits[at];
    }
}

struct tally {
    double inside;
    double all;
};

static void count_coverage(const double *shares, double z, struct tally *one,
                           struct tally *two)
{
    double base[FUNCTIONS], now[FUNCTIONS];

    sample(shares, base);
    sample(shares, now);
    for (int i = 0; i < FUNCTIONS; ++i) {
        struct interval_pair pair = {base[i], SAMPLES, now[i], SAMPLES};
        struct interval share = interval_share(now[i], SAMPLES, z);
        struct interval difference = interval_difference(&pair, z);

        if (shares[i] * SAMPLES < 5)
            continue;
        one->inside += share.low <= shares[i] && shares[i] <= share.high;
        two->inside += interval_is_noise(&difference);
        ++one->all;
        ++two->all;
    }
}

/* About 95 %, and not more either: an interval that holds everything says
 * nothing. */
TEST(intervals_hold_the_truth_as_often_as_they_say)
{
    struct tally one = {0}, two = {0};
    double shares[FUNCTIONS];

    unit_seed = 42;
    for (int round = 0; round < 400; ++round) {
        make_program(shares);
        count_coverage(shares, interval_z(0.95, 1), &one, &two);
    }
    print_message("# held: %.2f %% of %.0f shares, %.2f %% of as many "
                  "differences\n",
                  100 * one.inside / one.all, one.all,
                  100 * two.inside / two.all);
    near(one.inside / one.all, 0.95, 0.01);
    near(two.inside / two.all, 0.955, 0.01);
}

static int descending(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a < *b) - (*a > *b);
}

static bool raises_alarm(const double *shares)
{
    struct interval_pair wholes = {.base_whole = SAMPLES, .new_whole = SAMPLES};
    double base[FUNCTIONS], now[FUNCTIONS], totals[FUNCTIONS], z;
    bool alarm = false;

    sample(shares, base);
    sample(shares, now);
    for (int i = 0; i < FUNCTIONS; ++i)
        totals[i] = base[i] + now[i];
    qsort(totals, FUNCTIONS, sizeof totals[0], descending);
    z = interval_z(0.95,
                   interval_comparisons(totals, FUNCTIONS, &wholes, 0.95));
    for (int i = 0; i < FUNCTIONS; ++i) {
        struct interval_pair pair = {base[i], SAMPLES, now[i], SAMPLES};
        struct interval difference = interval_difference(&pair, z);

        alarm = alarm || !interval_is_noise(&difference);
    }
    return alarm;
}

/* A false alarm is any function at all that is news: at most one comparison of
 * two profiles in twenty has one. */
TEST(the_same_program_is_no_news)
{
    double shares[FUNCTIONS];
    int alarms = 0, rounds = 600;

    unit_seed = 43;
    for (int round = 0; round < rounds; ++round) {
        make_program(shares);
        alarms += raises_alarm(shares);
    }
    print_message("# false alarms: %d of %d comparisons\n", alarms, rounds);
    assert_true(alarms <= rounds * 5 / 100);
    assert_true(alarms > 0);
}
