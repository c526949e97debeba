/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Two clocks of one guest: what is known of the one inside never contradicts
 * it, and is as exact as the readings allow.
 */

#include "../unit.h"

#include <math.h>

#include "flame/align.h"

#define MS 1e4 /* clocks */
#define MARKS 400u
#define STEP (10 * MS) /* between readings, half of it to either side */
#define PERIOD MS      /* between samples inside, the same */
#define SAMPLES 8000u

static double samples[SAMPLES];

/* Samples inside up to (end), none in [off, on). Returns how many. */
static size_t make_samples(double off, double on, double end)
{
    double at = 0;
    size_t count = 0;

    while (at < end && count < SAMPLES) {
        at += PERIOD * (0.5 + unit_part());
        if (at < off || at >= on)
            samples[count++] = at;
    }
    return count;
}

/* The readings at the times (outside), of a clock that is (inside) then. */
static size_t make_marks(struct align_mark *marks, const double *outside,
                         const double *inside, size_t count, size_t made)
{
    size_t used = 0;

    for (size_t i = 0; i < count; ++i) {
        size_t next = 0;

        while (next < made && samples[next] <= inside[i])
            ++next;
        if (next == 0 || next == made)
            continue;
        marks[used++] =
            (struct align_mark){outside[i], samples[next - 1], samples[next]};
    }
    return used;
}

struct world {
    double outside[MARKS];
    double inside[MARKS];
    struct align_mark marks[MARKS];
    size_t count;
    struct align align;
};

/* The clock inside begins at (shift) and runs (rate) times as fast, varied by
 * (part) of it; jumps by (jump) at reading (jumps_at). */
static void make_times(struct world *world, double shift, double rate,
                       double part, double jump, size_t jumps_at)
{
    double outside = 1000 * MS, inside = shift;

    for (size_t i = 0; i < MARKS; ++i) {
        double step = STEP * (0.5 + unit_part());

        outside += step;
        inside += step * rate * (1 + part * (2 * unit_part() - 1));
        inside += i == jumps_at ? jump : 0;
        world->outside[i] = outside;
        world->inside[i] = inside;
    }
}

static void fit(struct world *world, double off, double on)
{
    size_t made = make_samples(off, on, world->inside[MARKS - 1] + 2 * PERIOD);

    world->count =
        make_marks(world->marks, world->outside, world->inside, MARKS, made);
    assert_true(align_fit(&world->align, world->marks, world->count));
}

/* Between two readings the clock may be anywhere from one to the other. */
static void check_jump(const struct world *world, size_t to)
{
    double error,
        at =
            align_at(&world->align,
                     (world->outside[to - 1] + world->outside[to]) / 2, &error);

    assert_true(at - error <= world->inside[to - 1] + 1);
    assert_true(at + error >= world->inside[to] - 1);
}

/* The worst error that was stated; no real one is larger. */
static double check(const struct world *world)
{
    double worst = 0;

    for (size_t i = 0; i < MARKS; ++i) {
        double error, at = align_at(&world->align, world->outside[i], &error);

        if (fabs(at - world->inside[i]) > error + 1)
            fail_msg("%zu: off by %.0f, at most %.0f was stated", i,
                     at - world->inside[i], error);
        worst = error > worst ? error : worst;
    }
    return worst;
}

TEST(what_is_known_of_a_clock_never_contradicts_it)
{
    static const struct {
        double rate, part, jump;
        size_t jumps_at;
        double off, on; /* without samples in between */
        double slack;   /* at most; NAN = whatever it is */
        double worst;   /* error that is stated */
        size_t checked; /* a jump, 0 = none */
    } rows[] = {
        {1.0003, 0.0002, 0, MARKS, 0, 0, 0.01, 0.6 * PERIOD, 0},
        /* 150 ms from either end, where the clock is known */
        {1, 0.001, 0, MARKS, 1000 * MS, 1300 * MS, NAN, 0.05 * 150 * MS, 0},
        /* a host that was away */
        {1, 0.001, 80 * MS, 200, 0, 0, 0.1, 0.8 * PERIOD, 200},
        /* clocks that do not run alike */
        {1, 0.99, 0, MARKS, 0, 0, INFINITY, 0.8 * PERIOD, MARKS / 2},
    };
    static struct world world;

    for (size_t i = 0; i < COUNT(rows); ++i) {
        make_times(&world, 300 * MS, rows[i].rate, rows[i].part, rows[i].jump,
                   rows[i].jumps_at);
        fit(&world, rows[i].off, rows[i].on);
        assert_false(world.align.slack > rows[i].slack);
        assert_int_equal(isinf(world.align.slack), isinf(rows[i].slack));
        if (i == 0)
            assert_true(fabs(world.align.rate - rows[i].rate) < 0.01);
        if (!isinf(rows[i].slack) && !isnan(rows[i].slack))
            assert_int_equal(world.align.jumped, rows[i].jump != 0);
        assert_true(check(&world) < rows[i].worst);
        if (rows[i].checked != 0)
            check_jump(&world, rows[i].checked);
        align_free(&world.align);
    }
}

TEST(beyond_the_readings_the_error_grows)
{
    static struct world world;
    double first, last, error, more, at;

    make_times(&world, 300 * MS, 0.9, 0.001, 0, MARKS);
    fit(&world, 0, 0);
    first = world.marks[0].outside;
    last = world.marks[world.count - 1].outside;
    at = align_at(&world.align, last + 1000 * MS, &error);
    align_at(&world.align, last + 2000 * MS, &more);
    assert_true(fabs(at - (world.inside[MARKS - 1] + 900 * MS)) <=
                error + 20 * MS);
    assert_true(more > error && error > 0 && error < 50 * MS);
    at = align_at(&world.align, first - 500 * MS, &error);
    assert_true(fabs(at - (world.marks[0].least - 450 * MS)) <= error + PERIOD);
    align_free(&world.align);
}

TEST(clocks_of_two_runs_are_refused)
{
    static struct world world;
    struct align_mark marks[8] = {{0}};
    struct align align;

    make_times(&world, 300 * MS, 1, 0.001, 0, MARKS);
    fit(&world, 0, 0);
    align_free(&world.align);
    for (size_t i = 0; i < world.count; ++i)
        if (i % 5 == 0) /* back in time */
            world.marks[i].least = world.marks[i].most = 0;
    assert_false(align_fit(&align, world.marks, world.count));
    assert_true(align.refused >= world.count / 6);
    align_free(&align);
    assert_false(align_fit(&align, marks, 0));
    align_free(&align);
    for (size_t i = 0; i < 8; ++i) /* one sample, seen again and again */
        marks[i] = (struct align_mark){(double)i * MS, 5, 6};
    assert_false(align_fit(&align, marks, 8));
    align_free(&align);
}
