/* SPDX-License-Identifier: Apache-2.0 */

/* Weights, missed ticks and the measured period, against simulated hosts. */

#include "../unit.h"

#include "tick/timebase.h"

#include <prof/tick.h>

#include <prof/prof.h>

#define TSC_HZ 2600000000u
#define DIVISOR 1193u
#define PERIOD 2599600ull /* TSC_HZ * DIVISOR / PROF_PIT_HZ, rounded down */

/* Cycles of (divisor) PIT counts, as a 24.8 number. */
static uint64_t nominal(uint64_t tsc_hz, uint32_t divisor)
{
    return (tsc_hz << PROF_PERIOD_SHIFT) * divisor / PROF_PIT_HZ;
}

static struct prof_timebase begin(uint64_t tsc_hz)
{
    struct prof_timebase time;

    unit_seed = 1;
    prof_timebase_set(&time, 0, nominal(tsc_hz, DIVISOR), DIVISOR);
    return time;
}

TEST(steady_ticks_miss_nothing)
{
    struct prof_timebase time = begin(TSC_HZ);
    uint64_t sum = 0;

    for (uint64_t i = 1; i <= 100000; i++)
        sum += prof_timebase_step(&time, i * PERIOD);
    assert_int_equal(time.missed, 0);
    assert_int_equal(sum, 100000 * PERIOD);
}

TEST(late_ticks_miss_nothing)
{
    struct prof_timebase time = begin(TSC_HZ);

    for (uint64_t i = 1; i <= 100000; i++)
        prof_timebase_step(&time, i * PERIOD + unit_below(PERIOD / 10 * 7));
    assert_in_range(time.missed + 1, 0, 2);
}

TEST(lost_ticks_are_counted)
{
    struct prof_timebase time = begin(TSC_HZ);
    int64_t lost = 0;

    for (uint64_t i = 1; i <= 100000; i++) {
        if (i < 100000 && unit_below(100) < 35)
            lost++;
        else
            prof_timebase_step(&time, i * PERIOD + unit_below(PERIOD / 10));
    }
    assert_in_range(time.missed - lost + 1, 0, 2);
}

TEST(ticks_delivered_late_in_a_burst_are_not_missed)
{
    struct prof_timebase time = begin(TSC_HZ);
    uint64_t tsc = 0;

    for (int turn = 0; turn < 1000; turn++) {
        for (int i = 0; i < 20; i++)
            prof_timebase_step(&time, tsc += PERIOD);
        prof_timebase_step(&time, tsc += 8 * PERIOD);
        for (uint64_t i = 1; i <= 7; i++)
            prof_timebase_step(&time, tsc + i * (PERIOD / 50));
        prof_timebase_step(&time, tsc += PERIOD);
    }
    assert_in_range(time.missed + 1, 0, 2);
}

/* A host that takes the time again and again, at any period: samples and missed
 * ticks are as many as the mean period says. */
TEST(missed_ticks_are_those_of_the_mean_period)
{
    struct prof_timebase time = begin(TSC_HZ);
    uint64_t tsc = 0, samples = 0;

    for (uint32_t turn = 0; turn < 1000; turn++) {
        uint32_t counts = DIVISOR / 2 + turn % 16 * DIVISOR / 15;
        uint64_t period = PERIOD * counts / DIVISOR;

        prof_timebase_change(&time, counts);
        for (uint32_t i = 0; i < 4; i++, samples += 2) {
            prof_timebase_step(&time, tsc += period);
            tsc += 40 * PERIOD + unit_below(PERIOD);
            prof_timebase_step(&time, tsc);
        }
    }
    assert_in_range((uint64_t)time.missed + samples, tsc / PERIOD * 99 / 100,
                    tsc / PERIOD * 101 / 100);
}

TEST(a_second_without_ticks_is_one_gap)
{
    struct prof_timebase time = begin(TSC_HZ);
    uint64_t cycles;

    prof_timebase_step(&time, PERIOD);
    cycles = prof_timebase_step(&time, PERIOD + TSC_HZ);
    assert_int_equal(cycles, TSC_HZ);
    assert_in_range(time.missed, 998, 1000);
}

TEST(a_wrong_calibration_is_found_out)
{
    struct prof_timebase time = begin(TSC_HZ / 1000 * 1030); /* 3 % off */

    for (uint64_t i = 1; i <= 20000; i++)
        prof_timebase_step(&time, i * PERIOD + unit_below(PERIOD / 50));
    assert_in_range(time.period >> PROF_PERIOD_SHIFT, PERIOD - 30, PERIOD + 30);
    assert_int_equal(prof_timebase_cycles(&time, DIVISOR, DIVISOR),
                     time.period >> PROF_PERIOD_SHIFT);
}

TEST(lost_ticks_do_not_spoil_the_measured_period)
{
    struct prof_timebase time = begin(TSC_HZ);

    for (uint64_t i = 1; i <= 200000; i++)
        if (unit_below(1000) >= 3)
            prof_timebase_step(&time, i * PERIOD + unit_below(PERIOD / 3));
    assert_in_range(time.period >> PROF_PERIOD_SHIFT, PERIOD - PERIOD / 2000,
                    PERIOD + PERIOD / 2000);
}

TEST(samples_without_times_are_accounted_for)
{
    struct prof_timebase time = begin(TSC_HZ);

    prof_timebase_step(&time, PERIOD);
    prof_timebase_skip(&time, 101 * PERIOD, 90);
    assert_int_equal(time.missed, 10);
    assert_in_range(time.gap, 10 * PERIOD - 1000, 10 * PERIOD + 1000);
    assert_int_equal(prof_timebase_step(&time, 102 * PERIOD), PERIOD);
}

TEST(the_longest_periods_and_fastest_clocks_do_not_overflow)
{
    struct prof_timebase time;
    uint64_t period;

    prof_timebase_set(&time, 0, nominal(6000000000ull, 65536), 65536);
    period = time.period >> PROF_PERIOD_SHIFT;
    assert_in_range(period, 329552400, 329552500);
    for (uint64_t i = 1; i <= 5000; i++)
        prof_timebase_step(&time, i * period);
    assert_int_equal(time.period >> PROF_PERIOD_SHIFT, period);
    assert_in_range(prof_timebase_cycles(&time, 65536, 65536), period - 1,
                    period + 1);
}
