/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the variation of the period is worth: a loop in step with its mean,
 * sampled by many generators. Shares must be as good as independent samples
 * would be, no worse and no better.
 */

#include "../unit.h"

#include "sample/cpu_state.h"
#include "tick/clock.h"
#include "tick/jitter.h"
#include "tick/pit.h"

#include <prof/prof.h>

#define MEAN 1193u
#define SAMPLES 3000u
#define SEEDS 2000u
#define PARTS 16u /* of the range of periods */
#define TURNS 4u
#define INTERVAL_SQUARED 3.8416 /* 1.96 squared */

static struct prof_jitter new_jitter(uint32_t seed, uint32_t percent)
{
    uint32_t width = MEAN * percent / 100;

    return (struct prof_jitter){
        .random = seed,
        .least = MEAN - width,
        .counts = 2 * width + 1,
    };
}

/* Hits of the first fifth of a loop of MEAN / (rounds) counts, each of which
 * takes (delay) counts of the program's time. */
static uint32_t hits(struct prof_jitter *jitter, uint32_t rounds,
                     uint32_t delay)
{
    uint32_t at = 0, hit = 0, period = MEAN, took = 0;

    for (uint32_t i = 0; i < SAMPLES; i++) {
        if (i % PROF_JITTER_TICKS == 0)
            period = prof_jitter_next(jitter);
        at = (at + period - took) % MEAN;
        took = 0;
        if (at * rounds % MEAN < MEAN / 5) {
            hit++;
            took = delay;
        }
    }
    return hit;
}

/* Per mille of all seeds whose share is inside its 95 % interval. */
static uint32_t coverage(uint32_t percent, uint32_t rounds, uint32_t delay)
{
    double truth = (double)(MEAN / 5) / MEAN;
    uint32_t inside = 0;

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct prof_jitter jitter = new_jitter(seed, percent);
        double off = (double)hits(&jitter, rounds, delay) / SAMPLES - truth;

        inside += off * off <= INTERVAL_SQUARED * truth * (1 - truth) / SAMPLES;
    }
    print_message("jitter %u %%, %u rounds, delay %u: %u of %u inside\n",
                  percent, rounds, delay, inside, SEEDS);
    return inside * 1000 / SEEDS;
}

TEST(half_the_period_is_enough)
{
    assert_in_range(coverage(50, 1, 0), 930, 970);
    assert_in_range(coverage(50, 2, 0), 930, 970);
    assert_in_range(coverage(50, 3, 0), 930, 970);
    assert_in_range(coverage(50, 7, 0), 930, 970);
}

TEST(less_is_not)
{
    assert_in_range(coverage(10, 1, 0), 0, 900);
    assert_in_range(coverage(0, 1, 0), 0, 10);
}

/* If it depends on where a sample is how long it holds the program up, the
 * places of those that follow are not independent of it: a program may come
 * into step while the period holds. A hundredth of a round does no harm. */
TEST(what_samples_take_may_depend_little_on_their_place)
{
    assert_in_range(coverage(50, 1, MEAN / 100), 930, 970);
    assert_in_range(coverage(50, 1, MEAN / 10), 0, 700);
}

/* Of SEEDS runs of a program that stays in either of its two functions for up
 * to twice (mean) counts: how many shares of the first are inside their
 * intervals. */
struct inside {
    uint32_t by_samples, by_time;
};

/* Up to (most), by a generator that is not the jitter's. */
static uint32_t random_to(uint32_t *state, uint32_t most)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*state * most >> 32);
}

static void add_run_of_phases(struct inside *inside, uint32_t seed,
                              uint32_t mean)
{
    struct prof_jitter jitter = new_jitter(seed, 50);
    uint32_t state = seed * 2654435761u, period = 0;
    double at = 0, end = 0, first = 0, first_hit = 0, hits = 0, squares = 0;
    bool in_first = false;
    double truth, off;

    for (uint32_t i = 0; i < SAMPLES; i++) {
        if (i % PROF_JITTER_TICKS == 0)
            period = prof_jitter_next(&jitter);
        at += period;
        while (end <= at) {
            uint32_t length = random_to(&state, 2 * mean);

            in_first = !in_first;
            end += length;
            first += in_first ? length : 0;
        }
        hits += in_first;
        first_hit += in_first ? period : 0;
        squares += (double)period * period;
    }
    truth = (first - (in_first ? end - at : 0)) / at;
    off = hits / SAMPLES - truth;
    inside->by_samples +=
        off * off <= INTERVAL_SQUARED * truth * (1 - truth) / SAMPLES;
    off = first_hit / at - truth;
    inside->by_time += off * off <= INTERVAL_SQUARED * truth * (1 - truth) *
                                        squares / (at * at);
}

static struct inside inside_of_phases(uint32_t periods)
{
    struct inside inside = {0};

    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        add_run_of_phases(&inside, seed, periods * MEAN);
    print_message("phases of %u periods: %u and by time %u of %u inside\n",
                  periods, inside.by_samples, inside.by_time, SEEDS);
    inside.by_samples = inside.by_samples * 1000 / SEEDS;
    inside.by_time = inside.by_time * 1000 / SEEDS;
    return inside;
}

/* A function that runs for several periods at a time is met in each of them:
 * its share is nearer to the truth than independent samples were. By samples
 * it depends on how many short and long periods there were meanwhile, which
 * would be left to chance if none had to be chosen before others are again:
 * 800 were inside then, of phases of 100 periods. */
TEST(phases_of_a_program_are_met)
{
    struct inside inside = inside_of_phases(3);

    assert_in_range(inside.by_samples, 990, 1000);
    assert_in_range(inside.by_time, 990, 1000);
    inside = inside_of_phases(100);
    assert_in_range(inside.by_samples, 930, 970);
    assert_in_range(inside.by_time, 990, 1000);
}

TEST(the_mean_is_kept_and_the_bounds_are)
{
    struct prof_jitter jitter = new_jitter(1, 50);
    uint64_t sum = 0;
    uint32_t least = UINT32_MAX, most = 0;

    for (uint32_t i = 0; i < 1000000; i++) {
        uint32_t counts = prof_jitter_next(&jitter);

        sum += counts;
        least = counts < least ? counts : least;
        most = counts > most ? counts : most;
    }
    assert_in_range(sum / 1000000, MEAN - 1, MEAN + 1);
    assert_int_equal(least, MEAN - MEAN / 2);
    assert_int_equal(most, MEAN + MEAN / 2);
}

static uint32_t pit_divisor;

/* Instead of the timer. */
static void set_period(uint32_t divisor)
{
    pit_divisor = divisor;
}

/* If it were the mean, the first samples after each start would all lie at the
 * same place of a loop. */
TEST(the_first_period_varies)
{
    const struct prof_pit_rate rate = {.kernel = 11932, .ours = MEAN};
    struct prof_entry entries[4] = {{0}};
    uint32_t below = 0, equal = 0;

    prof_ring_open(&prof_cpus[0].ring, entries, entries + 4);
    prof_clock_set((uint64_t)MEAN << PROF_PERIOD_SHIFT, MEAN, 1000);
    prof_jitter_open(set_period);
    for (uint32_t i = 0; i < 1000; i++) {
        prof_jitter_begin(&rate);
        assert_in_range(pit_divisor, MEAN - MEAN / 2, MEAN + MEAN / 2);
        assert_int_equal(prof_cpus[0].tick.jitter.divisor, pit_divisor);
        assert_int_equal(prof_clock_of(prof_cpu_here())->counts, pit_divisor);
        below += pit_divisor < MEAN;
        equal += pit_divisor == MEAN;
    }
    assert_in_range(below, 430, 570);
    assert_in_range(equal, 0, 10);
}

/* Ticks are as many as the mean period says, whenever one looks. */
TEST(ticks_are_as_many_as_the_mean_promises)
{
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct prof_jitter jitter = new_jitter(seed, 50);
        uint64_t counts = 0;

        for (uint64_t ticks = 0; ticks < 60000; ticks += PROF_JITTER_TICKS) {
            uint64_t due = counts / MEAN;

            assert_in_range(ticks + 200 - due, 0, 400);
            counts += (uint64_t)prof_jitter_next(&jitter) * PROF_JITTER_TICKS;
        }
    }
}

TEST(a_seed_says_it_all)
{
    struct prof_jitter one = new_jitter(5, 50), same = one;
    struct prof_jitter other = new_jitter(6, 50);
    uint32_t differ = 0;

    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t counts = prof_jitter_next(&one);

        assert_int_equal(counts, prof_jitter_next(&same));
        differ += (uint32_t)(counts != prof_jitter_next(&other));
    }
    assert_in_range(differ, 900, 1000);
}

static void set_seed(uint32_t seed)
{
    char word[32];

    snprintf(word, sizeof word, "prof.seed=%u", seed);
    assert_int_equal(prof_option(word), 0);
}

/* In which sixteenth of the range the periods lie that (seed) gives first. */
static void first_periods(uint32_t seed, uint32_t *parts, uint32_t count)
{
    struct prof_jitter *jitter = &prof_cpus[0].tick.jitter;

    set_seed(seed);
    *jitter = new_jitter(0, 50);
    prof_jitter_open(set_period);
    for (uint32_t i = 0; i < count; i++)
        parts[i] =
            (prof_jitter_next(jitter) - jitter->least) * PARTS / jitter->counts;
}

/* Whether (counts) of the PARTS are as chance has them, of (whole) in all. */
static void assert_by_chance(const uint32_t *counts, uint32_t whole)
{
    double square = 0, mean = (double)whole / PARTS;

    for (uint32_t i = 0; i < PARTS; i++)
        square += (counts[i] - mean) * (counts[i] - mean) / mean;
    print_message("chi-square %.1f\n", square);
    /* of 15 degrees, one in a million each */
    assert_true(square > 1.0 && square < 56.5);
}

/* The periods that two seeds give at the same turn are as different as those of
 * any two generators: seeds that follow each other, and those far apart. */
TEST(seeds_are_unrelated)
{
    static const uint32_t apart[] = {1, 2, 16, 1000, 1u << 31};
    uint32_t one[TURNS], other[TURNS];

    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        for (uint32_t turn = 0; turn < TURNS; turn += TURNS - 1) {
            uint32_t counts[PARTS] = {0};

            for (uint32_t seed = 0; seed < SEEDS; seed++) {
                first_periods(seed, one, TURNS);
                first_periods(seed + apart[i], other, TURNS);
                counts[(other[turn] + PARTS - one[turn]) % PARTS]++;
            }
            print_message("seeds %u apart, turn %u: ", apart[i], turn);
            assert_by_chance(counts, SEEDS);
        }
    }
}
