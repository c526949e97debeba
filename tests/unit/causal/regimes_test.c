/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Whether progress has two rates: where durations are cut, when that means
 * something, and how often there seem to be two where there is one.
 */

#include "../unit.h"

#include "causal/regimes.h"

#include <math.h>

#define VISITS 10u
#define TRIALS 2000u
#define SIGMAS 4.5
#define TWO_PI 6.283185307179586

static struct prof_regimes_sample sample;
static struct prof_regimes found;

static void begin(void)
{
    sample = (struct prof_regimes_sample){0};
}

static void add(uint32_t cycles)
{
    prof_regimes_add(&sample, (uint64_t)cycles * VISITS, VISITS);
}

/* (count) experiments from (first) on, in equal steps. */
static void add_some(uint32_t count, uint32_t first, uint32_t step)
{
    for (uint32_t i = 0; i < count; i++)
        add(first + i * step);
}

static bool jumps(void)
{
    return prof_regimes_find(&sample, &found);
}

TEST(the_cut_is_where_both_are_narrowest)
{
    begin();
    add_some(20, 2000, 10);
    add_some(44, 1000, 10); /* the order is that of experiments */
    assert_true(jumps());
    assert_int_equal(found.cycles[0], 1215);
    assert_int_equal(found.cycles[1], 2095);
    assert_int_equal(found.percent, 69); /* 68.75 */
    /* not at the widest gap of neighbours: one that is far off does not decide
       where it is */
    begin();
    add_some(32, 1000, 4);
    add_some(31, 1600, 4);
    add(2300);
    assert_true(jumps());
    assert_int_equal(found.percent, 50);
    assert_int_equal(found.cycles[0], 1062);
}

TEST(equal_durations_are_one_cluster)
{
    begin();
    add_some(64, 1000, 0);
    assert_false(jumps());
    begin(); /* two values, each of them many times */
    add_some(32, 1000, 0);
    add_some(32, 1500, 0);
    assert_true(jumps());
    assert_int_equal(found.cycles[0], 1000);
    assert_int_equal(found.cycles[1], 1500);
    assert_int_equal(found.percent, 50);
}

TEST(two_clusters_need_enough_experiments)
{
    begin();
    add_some(32, 1000, 0);
    add_some(31, 2000, 0);
    prof_regimes_add(&sample, 1000, 0); /* one without visits is none */
    assert_false(jumps());
    add_some(1, 2000, 0);
    assert_true(jumps());
    for (unsigned few = 6; few < 8; few++) { /* a tenth in the smaller one */
        begin();
        add_some(few, 1000, 0);
        add_some(64 - few, 2000, 0);
        assert_int_equal(jumps(), few == 7);
        begin(); /* whichever that is */
        add_some(64 - few, 1000, 0);
        add_some(few, 2000, 0);
        assert_int_equal(jumps(), few == 7);
    }
}

TEST(clusters_are_far_from_each_other)
{
    begin();
    add_some(32, 1000, 0);
    add_some(32, 1100, 0);
    assert_false(jumps());
    begin();
    add_some(32, 1000, 0);
    add_some(32, 1101, 0);
    assert_true(jumps());
    begin(); /* an even distribution, however wide */
    add_some(64, 1000, 100);
    assert_false(jumps());
}

TEST(long_durations_are_no_overflow)
{
    begin();
    for (unsigned i = 0; i < 64; i++)
        prof_regimes_add(&sample, i % 2 == 0 ? 3ull << 30 : UINT64_MAX, 1);
    assert_true(jumps());
    assert_int_equal(found.cycles[0], 3ull << 30);
    assert_in_range(found.cycles[1], UINT32_MAX - 256, UINT32_MAX);
    assert_int_equal(found.percent, 50);
}

/* Of many, some of all times are kept. */
TEST(the_sample_is_of_all_experiments)
{
    unsigned late = 0;
    double wanted, error;

    begin();
    for (unsigned i = 0; i < 3000; i++)
        add(i < 2000 ? 1000 : 1500);
    for (unsigned i = 0; i < 64; i++)
        late += sample.cycles[i] == 1500;
    wanted = 64 / 3.0;
    error = sqrt(64 * (1 / 3.0) * (2 / 3.0));
    assert_true(fabs(late - wanted) < SIGMAS * error);
    assert_true(jumps());
    assert_int_equal(found.cycles[1], 1500);
}

/* ---- simulations */

static uint64_t state;

/* Above 0, up to 1. */
static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 1) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(TWO_PI * uniform());
}

enum { EVEN, NORMAL, TAIL, SKEWED, STOLEN, ONE_RATE, TWO_RATES = ONE_RATE };

/* Thousands of cycles for a visit, of one rate but for the last. */
static double duration(unsigned kind)
{
    double sum = 100 + 5 * normal();

    switch (kind) {
    case EVEN:
        return 100 + 60 * uniform();
    case NORMAL:
        return fmax(1, 100 + 20 * normal());
    case TAIL:
        return 100 - 50 * log(uniform());
    case SKEWED:
        return 100 * exp(0.8 * normal());
    case STOLEN: /* the host takes time at random moments, once on average */
        for (double left = uniform(); left > exp(-1); left *= uniform())
            sum -= 40 * log(uniform());
        return sum;
    default:
        return (uniform() < 0.3 ? 130 : 100) + 3 * normal();
    }
}

static unsigned count_jumps(unsigned kind)
{
    unsigned count = 0;

    for (unsigned trial = 0; trial < TRIALS; trial++) {
        begin();
        for (unsigned i = 0; i < PROF_REGIMES_SAMPLE; i++)
            add((uint32_t)(1000 * duration(kind)));
        count += jumps();
    }
    return count;
}

/* One in a thousand at most, as far as that can be told. */
TEST(one_rate_is_not_two)
{
    const double most = TRIALS * 0.001;

    state = 88172645463325252u;
    for (unsigned kind = 0; kind < ONE_RATE; kind++)
        assert_true(count_jumps(kind) <= most + SIGMAS * sqrt(most));
}

/* 99 of a hundred at least. */
TEST(two_rates_are_found)
{
    const double missed = TRIALS * 0.01;

    state = 362436069521288629u;
    assert_true(TRIALS - count_jumps(TWO_RATES) <=
                missed + SIGMAS * sqrt(missed));
}
