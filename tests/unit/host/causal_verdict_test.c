/* SPDX-License-Identifier: Apache-2.0 */

/* Verdicts of rows of a causal profile: none contradicts its row. */

#include "../unit.h"

#include "causal/causal.h"

#define VALUES 3u

/* A share, and gains with their intervals; below 0: unknown. */
struct row {
    double share;
    double values[VALUES][2];
};

static const double speedups[VALUES] = {25, 50, 95};

static struct causal_curve curve_of(const struct row *row)
{
    struct causal_curve curve = {
        .share = row->share < 0 ? row->share : row->share / 100,
        .count = VALUES,
    };

    for (unsigned i = 0; i < VALUES; ++i)
        curve.values[i] = (struct causal_value){
            .speedup = speedups[i] / 100,
            .known = row->values[i][1] >= 0,
            .gain = row->values[i][0] / 100,
            .interval = row->values[i][1] / 100,
        };
    return curve;
}

/* Rows as they are printed: the share, and of each speed-up the gain and its
 * interval; -1 = unknown. */
static const struct {
    const char *printed;
    enum causal_shape shape;
    double bend;
    const char *text;
} rows[] = {
    /* gains more and more, and far more than its own time */
    {"3.59  9.54 1.71, 14.04 2.66, 23.89 2.14", CAUSAL_LESSENS, 25,
     "beyond 25 % faster each further per cent gains less: 9.5 % there, 23.9 % "
     "at 95 %, which is more than its own time: what it delays gets shorter "
     "too"},
    {"20.00  5.00 0.20, 10.00 0.20, 10.10 0.20", CAUSAL_BENDS, 50,
     "beyond 50 % faster something else is the limit: 10.0 % there, 10.1 % at "
     "95 %"},
    {"20.00  5.00 0.20, 10.00 0.20, 6.00 0.20", CAUSAL_FALLS, 50,
     "beyond 50 % faster it gains less again: 10.0 % there, 6.0 % at 95 %"},
    /* the gain is the share: not more than that, though 19 % would be saved */
    {"20.00  5.20 0.30, 10.50 0.30, 20.00 0.30", CAUSAL_WHOLE, 0,
     "all of its time counts"},
    {"21.28  5.21 0.60, 10.45 0.57, 20.02 0.50", CAUSAL_WHOLE, 0,
     "all of its time counts"},
    {"20.00  6.50 0.30, 13.00 0.30, 24.70 0.30", CAUSAL_MORE, 0,
     "95 % faster it saves 19.0 % of the time and gains 24.7 %, which is more "
     "than its own time: what it delays gets shorter too"},
    /* significantly more than is saved at 50 %, but not than its own time */
    {"20.00  7.00 0.30, 14.00 0.30, 0 -1", CAUSAL_MORE, 0,
     "50 % faster it saves 10.0 % of the time and gains 14.0 %: what it delays "
     "gets shorter too"},
    {"20.00  2.50 0.30, 5.00 0.30, 9.50 0.30", CAUSAL_PART, 0,
     "50 % of its time counts, the rest delays nothing that is counted"},
    {"-1  2.50 0.30, 5.00 0.30, 9.50 0.30", CAUSAL_PART, 0,
     "some of its time counts"},
    /* not all of it at first */
    {"20.00  0.10 0.30, 1.00 0.30, 19.00 0.30", CAUSAL_UNEVEN, 0,
     "of what it saves 10 % counts at 50 % faster, 100 % at 95 %"},
    {"-1  0.10 0.30, 1.00 0.30, 19.00 0.30", CAUSAL_UNEVEN, 0,
     "it gains 1.0 % at 50 % faster, 19.0 % at 95 %"},
    /* less after 25 %, and more again: no limit */
    {"40.00  10.00 0.30, 11.00 0.30, 39.50 0.30", CAUSAL_UNEVEN, 0,
     "of what it saves 55 % counts at 50 % faster, 104 % at 95 %"},
    {"20.00  0.02 0.30, -0.10 0.30, 0.20 0.30", CAUSAL_NOTHING, 0,
     "nothing is gained: what is counted waits for something else"},
    /* the first gain is known: it is not nothing */
    {"20.00  5.00 0.30, 0.10 0.30, 0.20 0.30", CAUSAL_FALLS, 25,
     "beyond 25 % faster it gains less again: 5.0 % there, 0.2 % at 95 %"},
    {"20.00  0.02 9.00, 3.00 9.00, 12.00 15.00", CAUSAL_UNSURE, 0,
     "the interval is too wide to say: more experiments are needed"},
    {"20.00  0.10 0.30, -0.10 0.30, -4.00 0.30", CAUSAL_HARMS, 0,
     "it makes this longer, by 4.0 % at 95 % faster: work is done in other "
     "batches, or more often"},
    {"20.00  5.00 0.30, 0.10 0.30, -4.00 0.30", CAUSAL_MIXED, 0,
     "5.0 % are gained at 25 % faster, and 4.0 % lost at 95 %: work is done in "
     "other batches, or more often"},
    {"0.00  1.00 0.30, 2.00 0.30, 3.80 0.30", CAUSAL_MORE, 0,
     "95 % faster it saves 0.0 % of the time and gains 3.8 %, which is more "
     "than its own time: what it delays gets shorter too"},
    /* what is printed as 0.30 +- 0.30 is not known */
    {"20.00  0 0.10, 0 0.10, 0.3049 0.2951", CAUSAL_NOTHING, 0,
     "nothing is gained: what is counted waits for something else"},
};

/* How many more experiments it takes until all or nothing of what is saved is
 * out of the interval: it has to be half as wide as 0.9 of that. */
TEST(an_unsure_row_says_what_it_needs)
{
    static const struct {
        uint64_t experiments;
        uint32_t point;
        struct row row;
        const char *more;
    } unsure[] = {
        {100,
         0,
         {20, {{0, 9}, {3, 9}, {9, 17.1}}},
         ", some 300 of this target: prof.causal_until=8% goes on until then"},
        {1000,
         0,
         {5, {{0, 9}, {1, 9}, {1, 9}}},
         ", some 17000 of this target: prof.causal_until=2% goes on until "
         "then"},
        /* less than what can be asked for */
        {64,
         0,
         {1, {{0, 2}, {0, 2}, {0, 2}}},
         ", some 1400 of this target: give prof.causal_for= a longer time"},
        /* only the first point's intervals end experiments */
        {100,
         1,
         {20, {{0, 9}, {3, 9}, {9, 17.1}}},
         ", some 300 of this target: give prof.causal_for= a longer time"},
        /* nothing is saved */
        {64, 0, {0, {{0, 2}, {0, 2}, {0, 2}}}, ""},
    };

    for (size_t i = 0; i < COUNT(unsure); ++i) {
        struct causal_curve curve = curve_of(&unsure[i].row);
        char text[CAUSAL_TEXT_MAX], wanted[CAUSAL_TEXT_MAX];

        curve.experiments = unsure[i].experiments;
        curve.point = unsure[i].point;
        causal_judge(&curve);
        assert_int_equal(curve.shape, CAUSAL_UNSURE);
        causal_verdict(&curve, text);
        snprintf(wanted, sizeof wanted,
                 "the interval is too wide to say: more experiments are needed"
                 "%s",
                 unsure[i].more);
        assert_string_equal(text, wanted);
    }
}

TEST(verdicts_fit_their_rows)
{
    for (size_t i = 0; i < COUNT(rows); ++i) {
        struct causal_curve curve;
        char text[CAUSAL_TEXT_MAX];
        struct row row;

        assert_int_equal(
            sscanf(rows[i].printed, "%lf %lf %lf, %lf %lf, %lf %lf", &row.share,
                   &row.values[0][0], &row.values[0][1], &row.values[1][0],
                   &row.values[1][1], &row.values[2][0], &row.values[2][1]),
            1 + 2 * VALUES);
        curve = curve_of(&row);
        causal_judge(&curve);
        causal_verdict(&curve, text);
        assert_string_equal(text, rows[i].text);
        assert_int_equal(curve.shape, rows[i].shape);
        assert_float_equal(curve.bend * 100, rows[i].bend, 1e-9);
    }
}

/* ---- of any row */

/* Below (most), with two digits after the point. */
static double draw(unsigned most)
{
    return (double)unit_below(100 * most) / 100;
}

static bool gains(const double value[2])
{
    return value[0] - value[1] > 0.005;
}

static bool loses(const double value[2])
{
    return -value[0] - value[1] > 0.005;
}

/* What no verdict may say of this row, whatever it says otherwise. */
static void check_sense(const struct row *row, double bend, const char *text)
{
    const double *last = row->values[VALUES - 1];
    bool any_gain = false, any_loss = false, more = false;

    for (unsigned i = 0; i < VALUES; ++i) {
        any_gain = any_gain || gains(row->values[i]);
        any_loss = any_loss || loses(row->values[i]);
        more = more || row->values[i][0] - row->values[i][1] > row->share;
    }
    if (strstr(text, "nothing is gained") != NULL)
        assert_false(any_gain || any_loss);
    if (strstr(text, "all of its time counts") != NULL)
        assert_true(any_gain && !any_loss && !more);
    if (strstr(text, "more than its own time") != NULL)
        assert_true(more);
    if (strstr(text, "longer") != NULL || strstr(text, " lost at ") != NULL)
        assert_true(any_loss);
    for (unsigned i = 0; i < VALUES - 1; ++i)
        if (speedups[i] == bend)
            assert_true(last[0] < row->values[i][0] / bend * speedups[2]);
}

TEST(no_row_is_contradicted)
{
    for (unsigned round = 0; round < 20000; ++round) {
        struct row row = {.share = draw(40)};
        struct causal_curve curve;
        char text[CAUSAL_TEXT_MAX];

        for (unsigned i = 0; i < VALUES; ++i) {
            row.values[i][0] = draw(60) - 20;
            row.values[i][1] = draw(round % 2 == 0 ? 1 : 20);
        }
        curve = curve_of(&row);
        causal_judge(&curve);
        causal_verdict(&curve, text);
        assert_true(strlen(text) > 10);
        check_sense(&row, curve.bend * 100, text);
    }
}
