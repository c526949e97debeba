/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A program that does its rounds by the clock, in a whole part of the sampling
 * period: a fixed period meets each round at the same place and is wrong by
 * tens of percentage points. With jitter each share is inside its own 95 %
 * interval, in 19 of 20 runs (tests/unit/profiler/jitter_test.c counts them).
 *
 * So there are RUNS of them, of which three quarters of the shares must be
 * inside. Misses are not independent: the shares of a run add up to 1, and the
 * samples of one period are independent in pairs only. A model of 6,000 times
 * 20 runs has 93 % inside in the mean, and never less than three quarters. With
 * 10 % of jitter and one round a period seven out of eight have less. With
 * fewer runs chance alone would have as little.
 *
 * The mean of a share must be within 4.4 binomial standard deviations, and so
 * must that of the runs with all rounds, which finds a smaller bias. In the
 * model the mean is distributed normally, with 1.0 of these deviations by
 * samples and 1.1 by time. Chance alone fails this test on one build of 1,000.
 *
 * The kernel's tick loses nothing.
 *
 * The drain takes time that belongs to no part. It is given whole periods of
 * its own, and shares are those of the time that the parts had. That must be
 * what they had by the clock: less than two hundredths pass between them.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <stdio.h>
#include <stdlib.h>

#define DIVISOR 1193u
#define HZ 1000u
#define PERIODS 100u /* from one drain to the next */
#define DRAINS 25u   /* in a run */
#define RUNS 20u
#define ROUNDS_MAX 5u /* in a period */
#define POINTS 100    /* one percentage point, in hundredths of one */

#define INSTRUCTION_NS 32u /* icount=5 */
#define CLOSE 64u

/* Uses up the time until (end), but for the last few instructions. Most of
 * what is left each time: a tick meanwhile takes some of it. */
static inline __attribute__((always_inline)) void approach(uint64_t end)
{
    uint64_t now;

    while ((now = arch_tsc()) + CLOSE * INSTRUCTION_NS < end)
        guest_execute((uint32_t)(end - now) / INSTRUCTION_NS / 4 * 3);
}

/* Until the clock says (end). Several, to be distinguished by their names; the
 * compiler would make one function of two whose code is the same. */
#define PART(name)                                                             \
    __attribute__((noinline)) static void name(uint64_t end)                   \
    {                                                                          \
        approach(end);                                                         \
        while (arch_tsc() < end)                                               \
            __asm__ volatile("# " #name);                                      \
    }
PART(first_part)
PART(second_part)
PART(third_part)
PART(until_next_period)

static const struct {
    void (*run)(uint64_t end);
    uint32_t percent; /* of a round */
} parts[] = {{first_part, 20}, {second_part, 30}, {third_part, 50}};

#define PARTS (sizeof parts / sizeof *parts)

/* When round (round) begins, of (rounds) in a sampling period. */
static uint64_t begin_of(uint64_t round, uint32_t rounds)
{
    return round * DIVISOR * GUEST_MS / PROF_PIT_HZ * 1000 / rounds;
}

/* Where each part ends, in cycles after the first round between two drains.
 * Known in advance, for a division would take time between the parts. */
static uint64_t ends[PERIODS * ROUNDS_MAX][PARTS];

static void set_ends(uint32_t rounds)
{
    for (uint32_t i = 0; i < PERIODS * rounds; i++) {
        uint64_t begin = begin_of(i, rounds);
        uint64_t whole = begin_of(i + 1, rounds) - begin;
        uint32_t percent = 0;

        for (size_t part = 0; part < PARTS; part++) {
            percent += parts[part].percent;
            ends[i][part] = begin + whole * percent / 100;
        }
    }
}

static void work(uint32_t rounds)
{
    uint64_t zero = arch_tsc(), period = 0;

    for (uint32_t drain = 0; drain < DRAINS; drain++) {
        uint64_t begin = zero + begin_of(period, 1);

        until_next_period(begin);
        for (uint32_t i = 0; i < PERIODS * rounds; i++)
            for (size_t part = 0; part < PARTS; part++)
                parts[part].run(begin + ends[i][part]);
        prof_drain();
        period += PERIODS;
        do
            period++;
        while (zero + begin_of(period, 1) < arch_tsc());
    }
}

static uint32_t root(uint64_t square)
{
    uint32_t guess = 0;

    for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1)
        if ((uint64_t)(guess + bit) * (guess + bit) <= square)
            guess += bit;
    return guess;
}

/* 1.96 standard deviations of a share in hundredths of a point. */
static int64_t interval(uint32_t percent, uint64_t samples)
{
    return root(38400ull * percent * (100 - percent) / samples);
}

/* Shares of the parts in one run, in hundredths of a point. */
struct shares {
    int64_t time[PARTS], count[PARTS];
    uint64_t samples, cycles;
};

static struct shares measured(void)
{
    struct prof_row rows[PARTS];
    struct shares shares = {.samples = 0};

    for (size_t part = 0; part < PARTS; part++) {
        rows[part] = guest_row((uintptr_t)parts[part].run);
        shares.samples += rows[part].samples;
        shares.cycles += rows[part].cycles;
    }
    for (size_t part = 0; part < PARTS; part++) {
        shares.time[part] =
            (int64_t)(rows[part].cycles * 100 * POINTS / shares.cycles);
        shares.count[part] =
            (int64_t)(rows[part].samples * 100 * POINTS / shares.samples);
    }
    return shares;
}

/* How far these shares of part (part) are from the truth: by time, or by
 * samples where that is further. */
static int64_t error_of(size_t part, int64_t time, int64_t count)
{
    int64_t truth = (int64_t)parts[part].percent * POINTS;

    time = llabs(time - truth);
    count = llabs(count - truth);
    return time > count ? time : count;
}

static void run(uint32_t rounds)
{
    set_ends(rounds);
    prof_reset();
    prof_start();
    work(rounds);
    prof_drain();
    prof_stop();
}

/* One test: at a fixed period the worst share is nonsense. */
static void test_fixed(uint32_t rounds)
{
    struct shares shares;
    int64_t worst = 0;

    prof_option("prof.jitter=0");
    run(rounds);
    shares = measured();
    for (size_t i = 0; i < PARTS; i++)
        if (error_of(i, shares.time[i], shares.count[i]) > worst)
            worst = error_of(i, shares.time[i], shares.count[i]);
    tap_note("%u rounds a period, fixed: off by %d.%02d points",
             (unsigned)rounds, (int)worst / POINTS, (int)worst % POINTS);
    tap_ok(worst > 25 * POINTS, "a fixed period lies by tens of points");
}

/* Sums over the runs with jitter. */
struct sums {
    struct shares shares;
    unsigned runs;
    unsigned inside; /* shares of a run that were inside their interval */
    uint64_t ticks, ticks_wanted, missed;
    bool ticks_kept;
};

static void add_run(struct sums *sums, uint32_t rounds)
{
    uint64_t ticks = clock_ticks(), begin = arch_tsc();
    struct prof_stats stats;
    struct shares shares;
    int64_t late;

    run(rounds);
    stats = guest_stats();
    ticks = clock_ticks() - ticks;
    late = (int64_t)(ticks - guest_ticks_in(arch_tsc() - begin, CLOCK_DIVISOR));
    if (late < -1 || late > 1)
        sums->ticks_kept = false;
    sums->ticks += stats.ticks;
    sums->ticks_wanted += guest_ticks_in(stats.elapsed_cycles, DIVISOR);
    sums->missed += stats.missed;
    shares = measured();
    sums->runs++;
    sums->shares.samples += shares.samples;
    sums->shares.cycles += shares.cycles;
    for (size_t i = 0; i < PARTS; i++) {
        sums->shares.time[i] += shares.time[i];
        sums->shares.count[i] += shares.count[i];
        if (error_of(i, shares.time[i], shares.count[i]) <=
            interval(parts[i].percent, shares.samples))
            sums->inside++;
    }
}

/* A test for each part. */
static void test_means(const struct sums *sums, const char *what)
{
    for (size_t i = 0; i < PARTS; i++) {
        int64_t error = error_of(i, sums->shares.time[i] / sums->runs,
                                 sums->shares.count[i] / sums->runs);
        int64_t most = interval(parts[i].percent, sums->shares.samples);

        tap_note("%s, %u %%: off by %d of %d hundredths", what,
                 (unsigned)parts[i].percent, (int)error, (int)most);
        tap_ok(error * 4 <= most * 9, "the mean of a share is right");
    }
}

/* The parts had PERIODS between two drains, but for what passed between them,
 * and are sampled for as long. */
static void test_whole(const struct sums *sums)
{
    uint64_t whole = sums->runs * begin_of((uint64_t)DRAINS * PERIODS, 1);
    uint32_t parts_of_1000 = (uint32_t)(sums->shares.cycles * 1000 / whole);

    tap_note("%u thousandths of the time", (unsigned)parts_of_1000);
    tap_ok(parts_of_1000 > 980 && parts_of_1000 <= 1001,
           "and so is the time of all parts");
}

static void add_sums(struct sums *all, const struct sums *sums)
{
    all->runs += sums->runs;
    all->shares.samples += sums->shares.samples;
    for (size_t i = 0; i < PARTS; i++) {
        all->shares.time[i] += sums->shares.time[i];
        all->shares.count[i] += sums->shares.count[i];
    }
}

/* Seven tests of the same with jitter, which are added to (all). */
static void test_jittered(uint32_t rounds, struct sums *all)
{
    struct sums sums = {.ticks_kept = true};
    char what[32];

    prof_option("prof.jitter=50");
    for (uint32_t i = 0; i < RUNS; i++)
        add_run(&sums, rounds);
    snprintf(what, sizeof what, "%u rounds a period", (unsigned)rounds);
    test_means(&sums, what);
    test_whole(&sums);
    add_sums(all, &sums);
    tap_note("%u samples, %u of %u shares inside",
             (unsigned)sums.shares.samples, sums.inside,
             (unsigned)(RUNS * PARTS));
    tap_ok(sums.inside * 4 >= RUNS * PARTS * 3, "so it is in most runs");
    tap_ok(sums.ticks_kept, "the kernel has had its ticks");
    tap_ok(sums.missed == 0 &&
               llabs((int64_t)(sums.ticks - sums.ticks_wanted)) * 20 <=
                   (int64_t)sums.ticks_wanted,
           "the mean period is kept, and no tick is missed");
}

int service_main(void)
{
    static const uint32_t rounds[] = {1, 2, ROUNDS_MAX};
    struct sums all = {.runs = 0};

    tap_plan(27);
    prof_set_rate(HZ);
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        test_fixed(rounds[i]);
        test_jittered(rounds[i], &all);
    }
    test_means(&all, "all rounds");
    return tap_end();
}
