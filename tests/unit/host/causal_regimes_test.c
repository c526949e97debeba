/* SPDX-License-Identifier: Apache-2.0 */

/* Whether progress has two rates: where durations are cut, and when that means
 * something. */

#include "../unit.h"

#include "causal/causal.h"

#define MOST 200u
#define VISITS 10u

/* Experiments that each have two visits, the first of (POINT). */
#define POINT 3u
static struct causal_record records[MOST];
static struct causal_visits visits[2 * MOST];
static struct causal causal;

static void assert_near(double found, double expected)
{
    assert_true(found > expected - 1e-9 && found < expected + 1e-9);
}

static void begin(void)
{
    causal = (struct causal){.records = records, .visits = visits};
}

/* One at (speedup) with so many cycles a visit. */
static void add(double cycles, uint8_t speedup, uint8_t reason)
{
    const uint32_t number = causal.record_count++;

    assert_true(number < MOST);
    visits[2 * number] = (struct causal_visits){POINT, VISITS};
    visits[2 * number + 1] = (struct causal_visits){POINT + 1, 1};
    records[number] = (struct causal_record){
        .event = {.speedup = speedup,
                  .reason = reason,
                  .points = 2,
                  .virtual_time = (uint64_t)(cycles * VISITS)},
        .target = reason == 0 ? 0 : INDEX_NONE,
        .visits = 2 * number,
    };
}

/* (count) experiments at normal speed from (first) on, in equal steps. */
static void add_some(uint32_t count, double first, double step)
{
    for (uint32_t i = 0; i < count; ++i)
        add(first + i * step, 0, 0);
}

static bool jumps(struct causal_regimes *found)
{
    return causal_regimes(&causal, POINT, found);
}

TEST(the_cut_is_where_both_are_narrowest)
{
    struct causal_regimes found;

    begin();
    add_some(12, 200, 1);
    add_some(30, 100, 1); /* the order is that of experiments */
    assert_true(jumps(&found));
    assert_near(found.cycles[0], 114.5);
    assert_near(found.cycles[1], 205.5);
    assert_near(found.part, 30.0 / 42);
    /* not at the widest gap of neighbours: one that is far off does not decide
       where it is */
    begin();
    add_some(30, 100, 0.5);
    add_some(29, 160, 0.5);
    add(240, 0, 0);
    assert_true(jumps(&found));
    assert_near(found.part, 0.5);
    assert_near(found.cycles[0], 107.25);
}

TEST(equal_durations_are_one_cluster)
{
    struct causal_regimes found;

    begin();
    add_some(50, 100, 0);
    assert_false(jumps(&found));
    /* two values, each of them many times */
    add_some(50, 150, 0);
    assert_true(jumps(&found));
    assert_near(found.cycles[0], 100);
    assert_near(found.cycles[1], 150);
    assert_near(found.part, 0.5);
}

TEST(two_clusters_need_enough_experiments)
{
    struct causal_regimes found;

    begin();
    add_some(10, 100, 0);
    add_some(9, 200, 0);
    assert_false(jumps(&found));
    add_some(1, 200, 0);
    assert_true(jumps(&found));
    begin(); /* a tenth of them in the smaller one */
    add_some(90, 100, 0);
    add_some(9, 200, 0);
    assert_false(jumps(&found));
    add_some(1, 200, 0);
    assert_true(jumps(&found));
    begin();
    add_some(9, 100, 0); /* whichever that is */
    add_some(91, 200, 0);
    assert_false(jumps(&found));
}

TEST(clusters_are_far_from_each_other)
{
    struct causal_regimes found;

    begin();
    add_some(50, 100, 0);
    add_some(50, 109.9, 0);
    assert_false(jumps(&found));
    begin();
    add_some(50, 100, 0);
    add_some(50, 110.1, 0);
    assert_true(jumps(&found));
    begin(); /* an even distribution, however wide */
    add_some(150, 100, 10);
    assert_false(jumps(&found));
}

TEST(only_experiments_at_normal_speed_that_count)
{
    struct causal_regimes found;

    begin();
    add_some(50, 100, 0);
    for (unsigned i = 0; i < 25; ++i) {
        add(200, 1, 0);
        add(200, 0, 1);
    }
    assert_false(jumps(&found));
    assert_false(causal_regimes(&causal, INDEX_NONE, &found));
    assert_false(causal_regimes(&causal, POINT + 2, &found));
    begin();
    assert_false(jumps(&found));
}

/* A stream may name a point twice: the first counts, and nothing is written
 * beyond the room for one of each experiment. */
TEST(a_point_that_is_named_twice_counts_once)
{
    struct causal_regimes found;

    begin();
    add_some(MOST / 2, 100, 0);
    add_some(MOST / 2, 150, 0);
    for (uint32_t i = 0; i < MOST; ++i)
        visits[2 * i + 1] = (struct causal_visits){POINT, 1};
    assert_true(jumps(&found));
    assert_near(found.cycles[0], 100);
    assert_near(found.cycles[1], 150);
    assert_near(found.part, 0.5);
}
