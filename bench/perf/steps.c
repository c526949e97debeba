/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A loop that does its round once in a sampling period, by the clock, as the
 * control loop of a machine does. It begins at several places of the period, as
 * no program chooses where it does.
 */

#include "guest/guest.h"
#include "perf.h"
#include "work.h"

#include <kernel/console.h>

#define HZ 1000u
#define DIVISOR 1193u /* of the PIT at that rate */
#define UNITS 24900u  /* 996 of a period's 999.8 microseconds */
#define ROUNDS 700u   /* the vector holds their samples */
#define PHASES 5u
#define TURNS 3u /* times that the rounds are done, at each of them */

const struct perf_leaf perf_leaves[PERF_LEAVES] = {
    {"leaf_a", leaf_a},
    {"leaf_b", leaf_b},
    {"leaf_c", leaf_c},
    {"leaf_d", leaf_d},
};

/* When round (round) begins, after the first one, in cycles. */
static uint64_t begin_of(uint32_t round)
{
    return (uint64_t)round * DIVISOR * GUEST_TSC_HZ / PROF_PIT_HZ;
}

__attribute__((noinline)) static void pace(uint64_t end)
{
    while (arch_tsc() < end)
        __asm__ volatile("");
}

static void rounds_by_the_clock(uint64_t zero)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        work_round(UNITS);
        pace(zero + begin_of(i));
    }
}

/* "step JITTER PHASE SAMPLES ELAPSED ROUNDS", and each leaf's samples and
 * cycles. What the drains take is in none of them. */
static void step(uint32_t jitter, uint32_t turns, uint32_t place)
{
    uint64_t phase = begin_of(1) * (4 * place + 1) / (4 * PHASES);
    struct prof_stats stats;

    prof_start();
    prof_reset();
    pace(arch_tsc() + phase);
    for (uint32_t turn = 0; turn < turns; turn++) {
        rounds_by_the_clock(arch_tsc());
        prof_drain();
    }
    prof_stats(&stats);
    prof_stop();
    console_line("step %u %u %u %llu %u", (unsigned)jitter,
                 (unsigned)(phase / 1000), (unsigned)stats.ticks,
                 (unsigned long long)stats.elapsed_cycles,
                 (unsigned)(turns * ROUNDS));
    for (size_t i = 0; i < PERF_LEAVES; i++) {
        struct prof_row row = guest_row((uintptr_t)perf_leaves[i].run);

        console_line("step_share %s %u %llu", perf_leaves[i].name,
                     (unsigned)row.samples, (unsigned long long)row.cycles);
    }
}

void perf_steps(void)
{
    prof_set_depth(0);
    prof_set_rate(HZ);
    prof_option("prof.jitter=0");
    for (uint32_t place = 0; place < PHASES; place++)
        step(0, 1, place);
    prof_option("prof.jitter=50");
    for (uint32_t place = 0; place < PHASES; place++)
        step(PROF_JITTER_DEFAULT, TURNS, place);
}
