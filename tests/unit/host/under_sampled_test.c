/* SPDX-License-Identifier: Apache-2.0 */
/* When samples show less than the loop's account; <prof/under_sampled.h>. */

#include "../unit.h"

#include "profile/under_sampled.h"

#define SECONDS 12u
#define TSC_HZ 1000000000ull

/* A trace of SECONDS with (samples), of which (hits) were outside of idle,
 * while tasks ran for (percent) of the time. */
static struct model model_of(uint64_t samples, uint64_t hits, uint64_t percent)
{
    uint64_t clocks = PROF_CLOCK_HZ * SECONDS;
    uint64_t wall = TSC_HZ * SECONDS;

    return (struct model){
        .hello.tsc_hz = TSC_HZ,
        .idle = {.samples = samples - hits,
                 .clocks = clocks - clocks / samples * hits},
        .stacks = {.samples = hits, .clocks = clocks / samples * hits},
        .loop = {.wall = wall,
                 .tasks = wall / 100 * percent,
                 .idle = wall - wall / 100 * percent},
    };
}

static bool said(struct model model)
{
    char text[UNDER_SAMPLED_TEXT_MAX];

    return under_sampled(&model, text);
}

TEST(what_is_missed_is_said)
{
    struct model model = model_of(12000, 60, 8);
    char text[UNDER_SAMPLED_TEXT_MAX];

    assert_true(under_sampled(&model, text));
    assert_string_equal(
        text, "samples show 0.50 % outside of idle, the loop's account 8.00 % "
              "in tasks and callbacks: work that timers start is "
              "under-sampled; see docs/loop.md");
    assert_true(said(model_of(12000, 0, 8)));
}

TEST(what_may_be_chance_is_not)
{
    assert_false(said(model_of(12000, 960, 8)));
    assert_false(said(model_of(12000, 780, 8))); /* 6.5 to 8 %: the interval */
    assert_false(said(model_of(500, 0, 40)));    /* few samples */
    assert_false(said(model_of(12000, 11900, 100)));
    assert_false(said(model_of(12000, 12000, 0)));
}

TEST(another_time_is_not_compared)
{
    struct model models[5];

    for (size_t i = 0; i < COUNT(models); ++i)
        models[i] = model_of(12000, 60, 8);
    models[0].from = 1;
    models[1].loop.wall /= 2; /* it has been reset */
    models[2].missing_packets = 1;
    models[3].loop.idle = 0; /* the kernel does not say when it is idle */
    models[4].loop.stolen_inside = models[4].loop.tasks;
    for (size_t i = 0; i < COUNT(models); ++i)
        assert_false(said(models[i]));
    assert_false(said((struct model){0}));
}
