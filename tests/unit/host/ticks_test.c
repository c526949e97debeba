/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of several CPUs, joined into ticks and weighed. */

#include "../unit.h"

#include "profile/ticks.h"

#define PERIOD 10000u
#define BOUND 500u

static struct ticks ticks;

static void begin(void)
{
    ticks = (struct ticks){.bound = BOUND, .grace = 2 * PERIOD};
}

static void end(void)
{
    ticks_free(&ticks);
}

FIXTURE(begin, end);

static void add(uint32_t cpu, uint64_t time, enum ticks_kind kind)
{
    ticks_add(&ticks, cpu, &(struct ticks_sample){time, PERIOD, kind, 0});
}

static uint64_t weight(uint32_t cpu, uint64_t number)
{
    const struct ticks_sample *sample = ticks_at(&ticks, cpu, number);

    assert_non_null(sample);
    return sample->clocks;
}

TEST(latency_is_shared_by_those_that_were_busy)
{
    add(0, PERIOD, TICKS_BUSY);
    add(1, PERIOD + BOUND, TICKS_IDLE);
    add(2, PERIOD + 3, TICKS_IN);
    add(0, 2 * PERIOD, TICKS_IDLE);
    add(1, 2 * PERIOD, TICKS_IDLE);
    add(2, 2 * PERIOD, TICKS_IDLE);
    ticks_join(&ticks, ticks_by_latency);
    assert_int_equal(ticks.ticks, 2);
    assert_int_equal(ticks.joined, 6);
    assert_int_equal(weight(0, 0), PERIOD / 2);
    assert_int_equal(weight(1, 0), 0);
    assert_int_equal(weight(2, 0), PERIOD / 2);
    assert_int_equal(weight(1, 1), (PERIOD + 1) / 3);
    assert_int_equal(ticks.busy[0], PERIOD);
    assert_int_equal(ticks.busy[2], PERIOD);
    assert_int_equal(ticks_skew(&ticks, 0.5), 0);
    assert_int_equal(ticks_skew(&ticks, 1), BOUND);
    assert_null(ticks_at(&ticks, 0, 2));
    assert_null(ticks_at(&ticks, 3, 0));
}

TEST(a_tick_without_one_of_the_cpus_is_not_joined)
{
    for (unsigned i = 1; i <= 5; ++i) {
        add(0, i * PERIOD, TICKS_BUSY);
        if (i != 3)
            add(1, i * PERIOD + BOUND + (i == 2), TICKS_BUSY);
    }
    ticks_join(&ticks, ticks_by_latency);
    assert_int_equal(ticks.ticks, 3); /* 2 was too late, 3 did not come */
    assert_int_equal(ticks.samples, 9);
    assert_int_equal(ticks.joined, 6);
    assert_int_equal(ticks.clocks, 9 * PERIOD);
    assert_int_equal(ticks.joined_clocks, 6 * PERIOD);
    assert_int_equal(weight(0, 1), 0);
    assert_int_equal(weight(1, 1), 0);
    assert_int_equal(weight(0, 2), 0);
    assert_int_equal(weight(1, 2), PERIOD / 2);
}

TEST(two_samples_of_a_cpu_may_be_of_either_tick)
{
    add(0, PERIOD, TICKS_BUSY);
    add(0, PERIOD + BOUND, TICKS_BUSY);
    add(1, PERIOD, TICKS_BUSY);
    ticks_join(&ticks, ticks_by_latency);
    assert_int_equal(ticks.ticks, 0);
    assert_int_equal(ticks.samples, 3);
}

TEST(cpus_that_join_later_or_ended_are_not_waited_for)
{
    for (unsigned i = 1; i <= 20; ++i) {
        add(0, i * PERIOD, TICKS_BUSY);
        if (i >= 8 && i <= 12)
            add(1, i * PERIOD, TICKS_BUSY);
    }
    ticks_join(&ticks, ticks_by_latency);
    assert_int_equal(ticks.ticks, 20 - 4); /* two before, and two after it */
    assert_int_equal(weight(0, 4), PERIOD);
    assert_int_equal(weight(0, 5), 0);
    assert_int_equal(weight(0, 7), PERIOD / 2);
    assert_int_equal(weight(0, 13), 0);
    assert_int_equal(weight(0, 14), PERIOD);
}

TEST(ticks_are_listed_if_nobody_weighs_them)
{
    add(0, PERIOD, TICKS_BUSY);
    add(1, PERIOD + 1, TICKS_IDLE);
    add(0, 2 * PERIOD, TICKS_BUSY); /* of CPU 1 there is none */
    ticks_add(&ticks, 0, &(struct ticks_sample){3 * PERIOD, 5, TICKS_BUSY, 0});
    add(1, 3 * PERIOD, TICKS_BUSY);
    ticks_join(&ticks, NULL);
    assert_int_equal(ticks.ticks, 2);
    assert_int_equal(ticks_at(&ticks, 0, 0)->tick, 1);
    assert_int_equal(ticks_at(&ticks, 1, 0)->tick, 1);
    assert_int_equal(ticks_at(&ticks, 0, 1)->tick, 0);
    assert_int_equal(ticks_at(&ticks, 0, 2)->tick, 2);
    assert_int_equal(ticks_at(&ticks, 1, 1)->tick, 2);
    assert_int_equal(ticks.list[0].clocks, PERIOD);
    assert_int_equal(ticks.list[0].count, 2);
    assert_int_equal(ticks.list[0].busy, 1);
    assert_int_equal(ticks.list[1].clocks, 5); /* the least of the two */
    assert_int_equal(ticks.list[1].busy, 2);
}

TEST(sums_are_in_no_tick)
{
    add(0, PERIOD, TICKS_SUM);
    add(0, PERIOD, TICKS_BUSY);
    add(1, PERIOD, TICKS_BUSY);
    add(1, PERIOD, TICKS_SUM);
    ticks_join(&ticks, ticks_by_latency);
    assert_int_equal(ticks.ticks, 1);
    assert_int_equal(ticks.clocks, 4 * PERIOD);
    assert_int_equal(ticks.joined_clocks, 2 * PERIOD);
    assert_int_equal(weight(0, 0), 0);
    assert_int_equal(weight(0, 1), PERIOD / 2);
    assert_int_equal(weight(1, 1), 0);
}

TEST(a_tick_accounts_for_the_least_of_its_samples)
{
    add(0, PERIOD, TICKS_BUSY);
    ticks_add(&ticks, 1,
              &(struct ticks_sample){PERIOD, 30 * PERIOD, TICKS_IDLE, 0});
    ticks_join(&ticks, ticks_by_latency);
    assert_int_equal(weight(0, 0), PERIOD);
    assert_int_equal(ticks.clocks, 31 * PERIOD);
    assert_int_equal(ticks.joined_clocks, 2 * PERIOD);
}

/* Whom one tick of these kinds blames. */
static void assert_blamed(const enum ticks_kind *kinds, unsigned count,
                          const uint64_t *wanted)
{
    end();
    begin();
    for (unsigned i = 0; i < count; ++i)
        add(i, PERIOD, kinds[i]);
    ticks_join(&ticks, ticks_by_blame);
    for (unsigned i = 0; i < count; ++i)
        assert_int_equal(weight(i, 0), wanted[i]);
}

TEST(blame_goes_to_the_busy_then_the_idle_then_itself)
{
#define BLAMED(kinds, wanted) assert_blamed(kinds, COUNT(kinds), wanted)
    static const enum ticks_kind busy[] = {TICKS_IN, TICKS_BUSY, TICKS_IDLE};
    static const enum ticks_kind idle[] = {TICKS_IN, TICKS_IDLE, TICKS_IDLE};
    static const enum ticks_kind in[] = {TICKS_IN, TICKS_IN};
    static const enum ticks_kind none[] = {TICKS_BUSY, TICKS_IDLE};

    BLAMED(busy, ((const uint64_t[]){0, PERIOD, 0}));
    BLAMED(idle, ((const uint64_t[]){0, PERIOD / 2, PERIOD / 2}));
    BLAMED(in, ((const uint64_t[]){PERIOD, PERIOD}));
    BLAMED(none, ((const uint64_t[]){0, 0}));
}

/* Whatever comes: what is joined and what is not is all there is, no more is
 * given than went by, and nothing of the time in the function is lost. */
TEST(weights_add_up_whatever_comes)
{
    for (unsigned round = 0; round < 300; ++round) {
        bool blame = round % 2 != 0;
        uint64_t given = 0;

        end();
        begin();
        for (unsigned cpu = 0; cpu < 1 + round % 5; ++cpu) {
            uint64_t time = unit_below(3 * PERIOD);

            for (unsigned i = unit_below(100); i-- > 0;) {
                time += unit_below(8) == 0 ? unit_below(2 * BOUND) : PERIOD;
                add(cpu, time, (enum ticks_kind)unit_below(4));
            }
        }
        ticks_join(&ticks, blame ? ticks_by_blame : ticks_by_latency);
        for (size_t cpu = 0; cpu < ticks.cpu_count; ++cpu)
            for (size_t i = 0; i < ticks.cpus[cpu].count; ++i)
                given += ticks.cpus[cpu].samples[i].clocks;
        assert_true(ticks.joined <= ticks.samples);
        assert_true(ticks.joined_clocks <= ticks.clocks);
        if (blame) /* times in the function, all of one period */
            assert_int_equal(given % PERIOD, 0);
        else /* each sample is rounded */
            assert_true(given <= ticks.ticks * (PERIOD + 4) &&
                        given + 4 * ticks.ticks >= ticks.ticks * PERIOD);
    }
}
