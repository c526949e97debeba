/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Quantiles of latencies from a histogram, beside those of the values.
 */

#include "../unit.h"

#include "causal/causal.h"

#define VALUES 100000u

static struct prof_latency_sum sum;

struct interval {
    uint64_t low, middle, high;
};

static struct interval interval_of(uint32_t permille)
{
    struct interval found;

    prof_latency_interval(&sum, permille, &found.low);
    return found;
}

static uint64_t quantile_of(uint32_t permille)
{
    return interval_of(permille).middle;
}

/* 1 to (VALUES) times (unit), each once, in another order. */
static void add_all(uint64_t unit)
{
    memset(&sum, 0, sizeof sum);
    for (uint32_t i = 0; i < VALUES; i++)
        prof_latency_add(&sum, (i * 7919ull % VALUES + 1) * unit);
}

static void is_near(uint64_t got, uint64_t wanted)
{
    uint64_t error = got > wanted ? got - wanted : wanted - got;

    assert_true(error <= wanted / 200 + 1);
}

TEST(quantiles_are_near_those_of_the_values)
{
    static const uint64_t units[] = {1, 3, 1000, 1000000};

    for (unsigned i = 0; i < 4; i++) {
        add_all(units[i]);
        assert_int_equal(sum.count, VALUES);
        assert_int_equal(sum.cycles,
                         (uint64_t)VALUES * (VALUES + 1) / 2 * units[i]);
        is_near(quantile_of(500), VALUES / 2 * units[i]);
        is_near(quantile_of(990), VALUES / 100 * 99 * units[i]);
        /* of the last range not all is used */
        assert_in_range(quantile_of(1000), VALUES * units[i],
                        VALUES * units[i] / 32 * 33);
    }
}

TEST(a_few_values)
{
    memset(&sum, 0, sizeof sum);
    assert_int_equal(quantile_of(990), 0);
    prof_latency_add(&sum, 20);
    assert_in_range(quantile_of(500), 20, 21);
    prof_latency_add(&sum, 31);
    prof_latency_add(&sum, 32);
    prof_latency_add(&sum, 64);
    assert_in_range(quantile_of(250), 20, 21);
    assert_in_range(quantile_of(500), 31, 32);
    assert_in_range(quantile_of(750), 32, 33);
    assert_in_range(quantile_of(999), 64, 66);
}

TEST(intervals_are_those_of_ranks)
{
    struct interval found;

    memset(&sum, 0, sizeof sum);
    found = interval_of(500);
    assert_int_equal(found.low + found.high, 0);
    add_all(1000);
    /* 1.96 times the root of 100,000 / 4 is 310 values */
    found = interval_of(500);
    is_near(found.low, (VALUES / 2 - 310) * 1000);
    is_near(found.high, (VALUES / 2 + 310) * 1000);
    assert_in_range(found.high - found.low, 600000, 640000);
    /* and that of 100,000 * 0.99 * 0.01 is 62; not all of the range is used */
    found = interval_of(990);
    assert_in_range(found.high - found.low, 120000, 190000);
    memset(&sum, 0, sizeof sum);
    prof_latency_add(&sum, 20);
    found = interval_of(990);
    assert_in_range(found.low, 20, 21);
    assert_in_range(found.high, 20, 21);
}

TEST(values_without_bounds)
{
    memset(&sum, 0, sizeof sum);
    for (unsigned i = 0; i < 64; i++)
        prof_latency_add(&sum, (uint64_t)1 << i);
    assert_int_equal(sum.count, 64);
    prof_latency_add(&sum, 0);
    assert_in_range(quantile_of(1), 0, 1);
    assert_true(quantile_of(1000) >= (uint64_t)1 << 40);
}
