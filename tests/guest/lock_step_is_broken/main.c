/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A program that does its rounds by the clock, in a whole part of the sampling
 * period: a fixed period meets each round at the same place and lies by tens of
 * percentage points; with jitter every share is inside its own 95 % interval.
 * The kernel's tick is none the worse for it. Of all seeds one share in twenty
 * would be outside (tests/unit/jitter_test.c counts that); this run repeats.
 */

#include "../guest.h"
#include "../tap.h"

#include <kernel/service.h>
#include <stdlib.h>

#define DIVISOR 1193u
#define HZ 1000u
#define SECONDS 10u
#define POINTS 100 /* one percentage point, in hundredths of one */

/* Until the clock says (end). Three, so that they are told apart. */
#define PART(name)                                                             \
    __attribute__((noinline)) static void name(uint64_t end)                   \
    {                                                                          \
        while (arch_tsc() < end)                                               \
            __asm__ volatile("");                                              \
    }
PART(first_part)
PART(second_part)
PART(third_part)

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

static void work(uint32_t rounds)
{
    uint64_t zero = arch_tsc();

    for (uint64_t i = 0; i < (uint64_t)SECONDS * HZ * rounds; i++) {
        uint64_t begin = zero + begin_of(i, rounds);
        uint64_t whole = zero + begin_of(i + 1, rounds) - begin;
        uint32_t percent = 0;

        for (size_t part = 0; part < PARTS; part++) {
            percent += parts[part].percent;
            parts[part].run(begin + whole * percent / 100);
        }
        if (i % ((uint64_t)HZ * rounds / 10) == 0)
            prof_drain();
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

/* How far the share of part (part) is from the truth, in units of (interval)
 * hundredths: by time, or by samples where that is further. */
static int64_t error_of(size_t part, const struct prof_stats *stats)
{
    struct prof_row row = guest_row((uintptr_t)parts[part].run);
    int64_t truth = (int64_t)parts[part].percent * POINTS;
    int64_t time =
        (int64_t)(row.cycles * 100 * POINTS / stats->elapsed_cycles) - truth;
    int64_t count =
        (int64_t)(row.samples * 100 * POINTS / stats->ticks) - truth;

    return llabs(time) > llabs(count) ? llabs(time) : llabs(count);
}

static void run(uint32_t rounds)
{
    prof_reset();
    prof_start();
    work(rounds);
    prof_drain();
    prof_stop();
}

/* One test: at a fixed period the worst share is nonsense. */
static void test_fixed(uint32_t rounds)
{
    struct prof_stats stats;
    int64_t worst = 0;

    prof_option("prof.jitter=0");
    run(rounds);
    stats = guest_stats();
    for (size_t i = 0; i < PARTS; i++)
        if (error_of(i, &stats) > worst)
            worst = error_of(i, &stats);
    tap_note("%u rounds a period, fixed: off by %d.%02d points",
             (unsigned)rounds, (int)worst / POINTS, (int)worst % POINTS);
    tap_ok(worst > 25 * POINTS, "a fixed period lies by tens of points");
}

/* Five tests of the same with jitter. */
static void test_jittered(uint32_t rounds)
{
    uint64_t ticks = clock_ticks(), begin = arch_tsc();
    struct prof_stats stats;

    prof_option("prof.jitter=50");
    run(rounds);
    stats = guest_stats();
    ticks = clock_ticks() - ticks;
    begin = arch_tsc() - begin;
    for (size_t i = 0; i < PARTS; i++) {
        int64_t error = error_of(i, &stats);
        int64_t most = interval(parts[i].percent, stats.ticks);

        tap_note("%u rounds a period, %u %%: off by %d of %d hundredths",
                 (unsigned)rounds, (unsigned)parts[i].percent, (int)error,
                 (int)most);
        tap_ok(error <= most, "with jitter a share is inside its interval");
    }
    tap_is_between((int64_t)(ticks - guest_ticks_in(begin, CLOCK_DIVISOR)), -1,
                   1, "the kernel has had its ticks");
    tap_note("%u samples", (unsigned)stats.ticks);
    tap_ok(stats.missed == 0 && stats.ticks > SECONDS * HZ * 95 / 100 &&
               stats.ticks < SECONDS * HZ * 105 / 100,
           "the mean period is kept, and no tick is missed");
}

int service_main(void)
{
    static const uint32_t rounds[] = {1, 2, 5};

    tap_plan(18);
    prof_set_rate(HZ);
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        test_fixed(rounds[i]);
        test_jittered(rounds[i]);
    }
    return tap_end();
}
