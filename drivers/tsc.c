/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Calibration of the time stamp counter.
 *
 * The two clocks cannot be read at the same instant: a busy host may suspend
 * the guest for milliseconds between two reads. So each read of the PIT is
 * bracketed by two reads of the TSC, and the narrowest bracket at either end of
 * an interval of 50 ms is used:
 *
 *   [ reads, 6 ms ]          wait          [ reads, 6 ms ]   then OUT goes high
 *
 * If the host suspends the guest past the end of the interval, the PIT's output
 * is high, and calibration is tried again. On a host that runs the guest only
 * for a few milliseconds at a time, the last reads would fail each time. So
 * later attempts read during most of the interval and finally accept any two
 * brackets: an error of some hundred ppm is better than no clock.
 */

#include "tsc.h"

#include "pit.h"

#include <arch/cpu.h>
#include <stdbool.h>

#define READS_MAX 4000u /* ends the loop if the PIT does not count */

/* When to read, in counts; number of attempts; and the minimum ratio of the
 * interval to the width of both brackets. */
static const struct stage {
    unsigned attempts;
    uint32_t first_ends, last_begins, last_ends;
    uint32_t part;
} stages[] = {
    {8, 7000, 52000, 59000, 500},
    {24, 20000, 40000, 65000, 500},
    {24, 1000, 4000, 65000, 50},
};

struct reading {
    uint64_t tsc;    /* middle of the bracket */
    uint64_t width;  /* cycles */
    uint32_t counts; /* since the start of the stopwatch */
};

/* False: the stopwatch has expired. */
static bool read_both(struct reading *now)
{
    const uint64_t before = arch_tsc();
    const struct pit_state pit = pit_read(2);
    const uint64_t after = arch_tsc();

    now->tsc = before + (after - before) / 2;
    now->width = after - before;
    now->counts = UINT16_MAX - (uint32_t)pit.count;
    return !pit.output;
}

/* The narrowest bracket before (counts_end). False: none. */
static bool narrowest_until(uint32_t counts_end, struct reading *best)
{
    struct reading now;
    bool found = false;

    for (unsigned reads = 0; reads < READS_MAX; reads++) {
        if (!read_both(&now) || now.counts >= counts_end)
            return found;
        if (!found || now.width < best->width)
            *best = now;
        found = true;
    }
    return found;
}

/* Waits until the stopwatch reads (counts). False: expired or stuck. */
static bool wait_until(uint32_t counts)
{
    struct reading now;
    uint32_t last = 0;
    unsigned still = 0;

    while (still < READS_MAX) {
        if (!read_both(&now))
            return false;
        if (now.counts >= counts)
            return true;
        still = now.counts == last ? still + 1 : 0;
        last = now.counts;
    }
    return false;
}

/* The frequency, or 0 if this attempt failed. */
static uint64_t attempt(const struct stage *stage)
{
    struct reading first, last;

    pit_stopwatch_start();
    if (!narrowest_until(stage->first_ends, &first) ||
        !wait_until(stage->last_begins) ||
        !narrowest_until(stage->last_ends, &last) ||
        last.counts <= first.counts ||
        (first.width + last.width) * stage->part > last.tsc - first.tsc)
        return 0;
    return (last.tsc - first.tsc) * PIT_HZ / (last.counts - first.counts);
}

uint64_t tsc_calibrate(void)
{
    uint64_t hz = 0;

    for (unsigned at = 0; at < sizeof stages / sizeof *stages; at++)
        for (unsigned i = 0; i < stages[at].attempts && hz == 0; i++)
            hz = attempt(&stages[at]);
    return hz;
}
