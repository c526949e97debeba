/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is judged of many guests: Welch's test and Student's t against published
 * values and by simulation, medians, shares of functions, and words for times.
 */

#include "../unit.h"

#include <math.h>

#include "fleet/fleet.h"
#include "fleet/mixes.h"
#include "fleet/spans.h"
#include "fleet/statistics.h"
#include "store/answer.h"

static void near(double is, double wanted, double within)
{
    if (!(fabs(is - wanted) <= within))
        fail_msg("%.9f should be %.9f", is, wanted);
}

/* Two-sided quantiles of Student's t, as tables have them. */
TEST(student_is_as_in_tables)
{
    static const struct {
        double t, freedom, p;
    } known[] = {
        {12.7062047, 1, 0.05},   {4.30265273, 2, 0.05},  {2.57058184, 5, 0.05},
        {2.22813885, 10, 0.05},  {2.04227246, 30, 0.05}, {3.16927267, 10, 0.01},
        {1.98397152, 100, 0.05}, {63.6567412, 1, 0.01},  {0, 7, 1},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        near(statistics_student(known[i].t, known[i].freedom), known[i].p,
             1e-8);
        near(statistics_student(-known[i].t, known[i].freedom), known[i].p,
             1e-8);
    }
    near(statistics_student(1.959963985, 1e9), 0.05, 1e-6);
    near(statistics_student(INFINITY, 3), 0, 0);
    near(statistics_student(1, 0), 1, 0);
}

/* Means 20.82 and 23.71 of 15 and 12 numbers, by hand. */
TEST(welch_is_as_by_hand)
{
    struct welch welch = statistics_welch(20.82, 2.8, 15, 23.71, 22.0, 12);

    near(welch.t, 2.89 / sqrt(2.8 / 15 + 22.0 / 12), 1e-12);
    near(welch.freedom,
         pow(2.8 / 15 + 22.0 / 12, 2) /
             (pow(2.8 / 15, 2) / 14 + pow(22.0 / 12, 2) / 11),
         1e-12);
    assert_true(welch.p > 0.05 && welch.p < 0.1);
}

TEST(without_variance_any_difference_is_sure)
{
    struct welch same = statistics_welch(0.5, 0, 9, 0.5, 0, 9);
    struct welch less = statistics_welch(0.5, 0, 9, 0.25, 0, 9);
    struct welch few = statistics_welch(0.5, 0, 1, 0.25, 1, 9);

    near(same.t, 0, 0);
    near(same.p, 1, 0);
    assert_true(isinf(less.t) && less.t < 0);
    near(less.p, 0, 0);
    near(few.p, 1, 0); /* one guest says nothing */
}

TEST(sums_count_those_that_are_left_out_as_0)
{
    double mean, variance;

    statistics_of_sums(0.75, 0.25 + 0.0625, 4, &mean, &variance);
    near(mean, 0.1875, 1e-15);
    near(variance, (0.3125 - 4 * 0.1875 * 0.1875) / 3, 1e-15);
    statistics_of_sums(0.5, 0.25, 1, &mean, &variance);
    near(variance, 0, 0);
    statistics_of_sums(0, 0, 0, &mean, &variance);
    near(mean, 0, 0);
}

/* Normal enough: the sum of twelve uniform numbers. */
static double noise(void)
{
    double sum = -6;

    for (int i = 0; i < 12; ++i)
        sum += unit_part();
    return sum;
}

/* Builds that do not differ are called different as often as was said. */
TEST(false_alarms_are_as_rare_as_was_said)
{
    enum { RUNS = 20000, GUESTS = 6 };
    unsigned alarms = 0;

    for (unsigned run = 0; run < RUNS; ++run) {
        double sums[2] = {0}, squares[2] = {0}, mean[2], variance[2];

        for (int i = 0; i < 2 * GUESTS; ++i) {
            double value = 10 + (i % 2 + 1) * noise();

            sums[i % 2] += value;
            squares[i % 2] += value * value;
        }
        for (int i = 0; i < 2; ++i)
            statistics_of_sums(sums[i], squares[i], GUESTS, &mean[i],
                               &variance[i]);
        alarms += statistics_welch(mean[0], variance[0], GUESTS, mean[1],
                                   variance[1], GUESTS)
                      .p < 0.05;
    }
    near((double)alarms / RUNS, 0.05, 0.006);
}

TEST(medians_and_deviations)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, spread[] = {1, 2, 3, 9, 4};

    near(statistics_median(odd, 3), 2, 0);
    near(statistics_median(even, 4), 2.5, 0);
    near(statistics_mad(spread, 5, 3), 1.4826, 1e-12);
    assert_true(isnan(statistics_median(odd, 0)));
}

/* 7 minutes of 3 stacks, of which each has a sample more in each minute. */
static struct spans minutes_of_stacks(void)
{
    struct spans spans = {.minutes = 1};

    spans.list = calloc(21, sizeof *spans.list);
    assert_non_null(spans.list);
    for (uint32_t i = 0; i < 21; ++i)
        spans.list[spans.count++] = (struct span){.at = i / 3,
                                                  .stack = i % 3,
                                                  .samples = 1 + i,
                                                  .clocks = 10 * (1 + i)};
    return spans;
}

TEST(spans_become_longer_and_lose_no_sample)
{
    static const struct {
        size_t most, count;
        uint32_t minutes;
    } known[] = {{21, 21, 1}, {20, 12, 2}, {12, 12, 2}, {6, 6, 4},
                 {5, 3, 8},   {3, 3, 8},   {1, 3, 8}};

    for (size_t i = 0; i < COUNT(known); ++i) {
        struct spans spans = minutes_of_stacks();
        uint64_t samples = 0;

        spans_join(&spans, known[i].most, 7);
        assert_int_equal(spans.count, known[i].count);
        assert_int_equal(spans.minutes, known[i].minutes);
        for (size_t j = 0; j < spans.count; ++j) {
            assert_true(spans.list[j].at <= 6 / spans.minutes);
            assert_int_equal(spans.list[j].clocks, 10 * spans.list[j].samples);
            samples += spans.list[j].samples;
        }
        assert_int_equal(samples, 21 * 22 / 2);
        free(spans.list);
    }
}

/* Pieces of all of them are never more than may be. */
TEST(spans_are_divided_as_far_as_there_is_room)
{
    struct spans spans = {.minutes = 1};

    for (spans.count = 1; spans.count < 2000; ++spans.count) {
        unsigned pieces = spans_pieces(&spans, 10, 480, 1000);

        assert_true(pieces >= 1 && pieces <= 49);
        assert_true(pieces * spans.count <= 1000 || pieces == 1);
    }
    spans.count = 9;
    assert_int_equal(spans_pieces(&spans, 10, 480, 1000), 49);
    spans.minutes = 2;
    assert_int_equal(spans_pieces(&spans, 10, 480, 1000), 97);
    assert_int_equal(spans_pieces(&spans, 10, 480, 100), 10);
}

static struct store_answer read_answer(const char *text)
{
    struct store_answer answer = {0};
    struct answer_reader reader = {.answer = &answer};

    assert_true(answer_take(&reader, text, strlen(text)));
    assert_true(answer_end(&reader));
    return answer;
}

static void has_shares(const struct mixes *mixes, size_t row, bool total,
                       const double *wanted)
{
    double shares[8];

    assert_true(mixes->function_count <= 8);
    mixes_shares(mixes, &mixes->guests[row], total, shares);
    for (size_t i = 0; i < mixes->function_count; ++i)
        near(shares[i], wanted[i], 1e-15);
}

/* Stack 7 is recursive, 9 has a name of its own only later, 4 was never seen,
 * and 3 has no functions. Functions: the unknown one, a, b, main, never. */
TEST(shares_are_of_functions_and_stacks)
{
    static const double self[] = {0.25, 0, 0.75, 0, 0};
    static const double total[] = {0.25, 0.5, 0.75, 0.75, 0};
    static const double unknown[] = {1, 0, 0, 0, 0};
    static const double none[] = {0, 0, 0, 0, 0};
    struct mixes mixes;

    mixes_make(&mixes,
               read_answer("number\tm\tw\tn\n"
                           "String\tArray(UInt64)\tArray(UInt64)\t"
                           "Array(UInt64)\n"
                           "11\t[18446744073709551615,7,0]\t[20,40,20]\t"
                           "[2,4,3]\n"
                           "12\t[9,3]\t[1,1]\t[1,1]\n"
                           "13\t[7]\t[0]\t[0]\n"
                           "14\t[]\t[]\t[]\n"),
               read_answer("number\tnames\nString\tString\n"
                           "3\t\n"
                           "4\tmain\\nnever\n"
                           "7\tmain\\na\\nb\\na\\nb\n"
                           "18446744073709551615\tmain\\nb\n"));
    assert_int_equal(mixes.function_count, 5);
    assert_string_equal(mixes.functions[0], MIXES_UNKNOWN);
    assert_string_equal(mixes.functions[1], "a");
    assert_string_equal(mixes.functions[4], "never");
    has_shares(&mixes, 0, false, self);
    has_shares(&mixes, 0, true, total);
    has_shares(&mixes, 1, true, unknown);
    has_shares(&mixes, 1, false, unknown);
    has_shares(&mixes, 2, true, none);
    has_shares(&mixes, 3, true, none);
    assert_int_equal(mixes.guest_count, 4);
    assert_int_equal(mixes.guests[0].number, 11);
    assert_int_equal(mixes.guests[0].weight, 80);
    assert_int_equal(mixes.guests[0].samples, 9);
    assert_int_equal(mixes.guests[3].count, 0);
    mixes_free(&mixes);
}

/* Weights alone make the same shares. */
TEST(shares_need_no_counts)
{
    static const double total[] = {0.25, 0.75, 0.75};
    struct mixes mixes;

    mixes_make(&mixes,
               read_answer("number\tm\tw\nS\tA\tA\n"
                           "11\t[7,0]\t[60,20]\n"),
               read_answer("number\tnames\nString\tString\n"
                           "7\tmain\\na\n"));
    has_shares(&mixes, 0, true, total);
    assert_int_equal(mixes.guests[0].count, 2);
    assert_int_equal(mixes.guests[0].samples, 0);
    mixes_free(&mixes);
}

/* Without a sample there is one function, of which nobody has a share. */
TEST(there_may_be_no_mixes)
{
    struct mixes mixes;

    mixes_make(&mixes, read_answer("number\tm\tw\tn\nS\tA\tA\tA\n"),
               read_answer("number\tnames\nString\tString\n"));
    assert_int_equal(mixes.guest_count, 0);
    assert_int_equal(mixes.function_count, 1);
    mixes_free(&mixes);
}

TEST(times_are_words)
{
    static const struct {
        const char *word;
        uint32_t seconds;
    } known[] = {
        {"now", 1000000},
        {"90s", 999910},
        {"30m", 998200},
        {"2h", 992800},
        {"1d", 913600},
        {"@77", 77},
        {"1970-01-02", 86400},
        {"1970-01-02 01:30", 91800},
        {"1970-01-02T01:30:05Z", 91805},
    };
    static const char *const none[] = {"",
                                       "x",
                                       "5",
                                       "5w",
                                       "@",
                                       "@x",
                                       "12d",
                                       "-5m",
                                       "5m ",
                                       "1970-13-01",
                                       "1960-01-01",
                                       "@99999999999",
                                       "1970-01-02 01:30 X"};
    uint32_t seconds;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        assert_true(fleet_time(known[i].word, 1000000, &seconds));
        assert_int_equal(seconds, known[i].seconds);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; ++i)
        if (fleet_time(none[i], 1000000, &seconds))
            fail_msg("'%s' is taken as %u", none[i], (unsigned)seconds);
}
