/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The rate of progress before experiments, in them and after them: when they
 * change the program.
 */

#include "../unit.h"

#include <prof/error.h>
#include <prof/rates.h>

#define HZ 1000000000u
#define VISITS 100u

static struct prof_progress_sum sums[PROF_RATES][PROF_GAIN_GROUPS];
static struct prof_rates rates;

/* Groups that alternate by (spread) around (us) for a visit. */
static void set(enum prof_rate_when when, uint32_t us, uint32_t spread)
{
    for (unsigned i = 0; i < PROF_GAIN_GROUPS; i++)
        sums[when][i] = (struct prof_progress_sum){
            (uint64_t)(us + (i % 2 == 0 ? spread : 0)) * 1000 * VISITS, VISITS,
            i + when};
}

static int changed(uint32_t before, uint32_t during, uint32_t after)
{
    memset(sums, 0, sizeof sums);
    set(PROF_RATE_BEFORE, before, 0);
    set(PROF_RATE_DURING, during, 0);
    if (after != 0)
        set(PROF_RATE_AFTER, after, 0);
    assert_int_equal(prof_rates_of(sums, HZ, &rates), 0);
    assert_int_equal(rates.us10[PROF_RATE_BEFORE], before * 10);
    assert_int_equal(rates.us10[PROF_RATE_DURING], during * 10);
    assert_int_equal(rates.us10[PROF_RATE_AFTER], after * 10);
    return rates.changed;
}

TEST(more_than_two_per_cent_is_a_change)
{
    assert_int_equal(changed(1000, 1020, 1000), 0);
    assert_int_equal(changed(1000, 1021, 1000), 1);
    assert_int_equal(changed(1000, 980, 1000), 0);
    assert_int_equal(changed(1000, 979, 1000), -1);
    assert_int_equal(rates.gain[PROF_RATE_AFTER].ppm, 21000);
    assert_int_equal(changed(1000, 1021, 0), 1);
}

/* A program that becomes slower by itself is between the two. */
TEST(both_are_needed)
{
    assert_int_equal(changed(1000, 1100, 1200), 0);
    assert_int_equal(changed(1200, 1100, 1000), 0);
    assert_int_equal(changed(1000, 1100, 1100), 0);
}

TEST(the_interval_must_allow_it)
{
    memset(sums, 0, sizeof sums);
    set(PROF_RATE_BEFORE, 1000, 0);
    set(PROF_RATE_DURING, 800, 500);
    assert_int_equal(prof_rates_of(sums, HZ, &rates), 0);
    assert_true(rates.gain[PROF_RATE_BEFORE].ppm < -40000);
    assert_int_equal(rates.changed, 0);
}

TEST(too_little_is_nothing)
{
    memset(sums, 0, sizeof sums);
    assert_int_equal(prof_rates_of(sums, HZ, &rates), PROF_ESTATE);
    set(PROF_RATE_BEFORE, 1000, 0);
    assert_int_equal(prof_rates_of(sums, HZ, &rates), PROF_ESTATE);
}

TEST(tenths_are_rounded_down)
{
    assert_int_equal(prof_rate_us10(199, HZ), 1);
    assert_int_equal(prof_rate_us10(200, HZ), 2);
    assert_int_equal(prof_rate_us10(8000000000, 8000000000), 10000000);
    assert_true(prof_rate_us10(UINT64_MAX, 1) > 1ull << 60);
    assert_int_equal(prof_rate_us10(7, 0), 70000000);
}
