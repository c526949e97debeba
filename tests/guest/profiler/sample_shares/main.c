/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Four functions whose instructions stand as 4 : 3 : 2 : 1 must be seen to do
 * so: at 1 kHz and at 10 kHz, and with nothing dropped as long as samples are
 * drained. Where they are not, every tick must be accounted for all the same.
 */

#include "guest/guest.h"
#include "guest/tap.h"
#include "../../../../services/split/leaf.h"

#include <kernel/service.h>
#include <stdlib.h>

#define POINTS 100 /* one percentage point, in the unit of parts_of() */
#define DIVISOR_1K 1193u
#define DIVISOR_10K 119u

static const struct {
    split_leaf *leaf;
    const char *name;
    uint32_t weight; /* tenths of all instructions */
} leaves[] = {
    {leaf_a, "leaf_a has 40 %", 4},
    {leaf_b, "leaf_b has 30 %", 3},
    {leaf_c, "leaf_c has 20 %", 2},
    {leaf_d, "leaf_d has 10 %", 1},
};

/* One round of varying length, so that it is not in step with the ticks. */
static void work(void)
{
    static uint32_t dither = 1;
    uint32_t units;

    dither = dither * 1664525u + 1013904223u;
    units = 1024 + (dither >> 16 & 1023);
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++)
        leaves[i].leaf(SPLIT_TURNS(units * leaves[i].weight));
}

/* (part) of (whole) in hundredths of a per cent. */
static int64_t parts_of(uint64_t part, uint64_t whole)
{
    return (int64_t)(part * 100 * POINTS / whole);
}

static void test_shares(const struct prof_stats *stats)
{
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        struct prof_row row = guest_row((uintptr_t)leaves[i].leaf);
        int64_t wanted = leaves[i].weight * 10 * POINTS;
        int64_t time = parts_of(row.cycles, stats->elapsed_cycles);
        int64_t count = parts_of(row.samples, stats->ticks);

        tap_note("%d.%02d %% of the time, %d.%02d %% of the samples",
                 (int)time / POINTS, (int)time % POINTS, (int)count / POINTS,
                 (int)count % POINTS);
        tap_ok(row.named && llabs(time - wanted) <= 3 * POINTS / 2 &&
                   llabs(count - wanted) <= 3 * POINTS / 2,
               leaves[i].name);
    }
}

/*
 * Six tests: (seconds) of work at (hz), drained in time. Of 30,000 samples and
 * more a standard deviation is 0.28 points at most.
 */
static void test_rate(uint32_t hz, uint32_t divisor, uint32_t seconds)
{
    uint64_t begin;
    struct prof_stats stats;
    bool on;

    prof_set_rate(hz);
    prof_reset();
    prof_start();
    begin = arch_tsc();
    while (arch_tsc() - begin < (uint64_t)seconds * GUEST_TSC_HZ) {
        work();
        loop_poll();
    }
    on = arch_interrupts_save(); /* no tick while they are counted */
    begin = arch_tsc() - begin;
    prof_drain();
    stats = guest_stats();
    arch_interrupts_restore(on);
    prof_stop();
    tap_note("%u Hz: %u samples, %u dropped, %u overflowed, %u queued",
             (unsigned)hz, (unsigned)stats.ticks, (unsigned)stats.dropped,
             (unsigned)stats.overflowed, (unsigned)stats.queued);
    tap_ok(stats.dropped == 0 && stats.overflowed == 0 && stats.queued == 0,
           "nothing is dropped");
    tap_is_between((int64_t)(stats.ticks - guest_ticks_in(begin, divisor)), -1,
                   1, "every tick is there");
    test_shares(&stats);
}

/* At 10 kHz the vector is full after a quarter of a second or so. */
static void test_undrained(void)
{
    uint64_t begin;
    struct prof_stats stats;

    prof_reset();
    prof_start();
    begin = arch_tsc();
    while (arch_tsc() - begin < GUEST_TSC_HZ)
        work();
    stats = guest_stats();
    begin = arch_tsc() - begin;
    tap_ok(stats.queued + stats.dropped == stats.ticks,
           "undrained: every tick is in one account");
    tap_is_between((int64_t)(stats.ticks - guest_ticks_in(begin, DIVISOR_10K)),
                   -1, 1, "undrained: every tick is there");
    prof_stop();
    prof_drain();
    stats = guest_stats();
    tap_ok(stats.overflowed > 0 && stats.queued == 0,
           "undrained: the vector had overflowed");
    tap_is_equal((int64_t)guest_accounted(&stats), (int64_t)stats.ticks,
                 "undrained: every tick is in one account when drained");
}

int service_main(void)
{
    tap_plan(16);
    test_rate(1000, DIVISOR_1K, 40);
    test_rate(10000, DIVISOR_10K, 3);
    test_undrained();
    return tap_end();
}
