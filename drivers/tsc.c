/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How fast the time stamp counter runs.
 *
 * The two clocks cannot be read at the same instant: on a busy host, we may be
 * stopped for milliseconds between one read and the other. So each look at the
 * PIT is bracketed by two looks at the TSC, and of all the brackets at either
 * end of a 50 ms stretch the narrowest counts:
 *
 *   [ looks, 6 ms ]          wait          [ looks, 6 ms ]   then OUT goes high
 *
 * A host that stops us for longer than what is left of the stretch is noticed
 * by the PIT's output, and the whole is tried again. One so busy that it lets
 * us run for a few milliseconds at a time, and then others for many, hits the
 * last looks each time. For it the looks take up most of the stretch, and at
 * last any two will do: a clock that is off by some hundred ppm is better than
 * none.
 */

#include "tsc.h"

#include "pit.h"

#include <arch/cpu.h>
#include <stdbool.h>

#define LOOKS_MAX 4000u /* a PIT that does not count ends the loop */

/* When looks are taken, in counts; how often that is tried; and what part of
 * the time between them two brackets may be. */
static const struct stage {
    unsigned attempts;
    uint32_t first_ends, last_begins, last_ends;
    uint32_t part;
} stages[] = {
    {8, 7000, 52000, 59000, 500},
    {24, 20000, 40000, 65000, 500},
    {24, 1000, 4000, 65000, 50},
};

struct look {
    uint64_t tsc;    /* middle of the bracket */
    uint64_t width;  /* cycles */
    uint32_t counts; /* since the stopwatch was started */
};

/* False: the stopwatch has run out. */
static bool look(struct look *now)
{
    const uint64_t before = arch_tsc();
    const struct pit_state pit = pit_read(2);
    const uint64_t after = arch_tsc();

    now->tsc = before + (after - before) / 2;
    now->width = after - before;
    now->counts = UINT16_MAX - (uint32_t)pit.count;
    return !pit.output;
}

/* The narrowest look taken before (counts_end). False: none. */
static bool look_until(uint32_t counts_end, struct look *best)
{
    struct look now;
    bool found = false;

    for (unsigned looks = 0; looks < LOOKS_MAX; looks++) {
        if (!look(&now) || now.counts >= counts_end)
            return found;
        if (!found || now.width < best->width)
            *best = now;
        found = true;
    }
    return found;
}

/* Waits until the stopwatch shows (counts). False: run out, or stuck. */
static bool wait_until(uint32_t counts)
{
    struct look now;
    uint32_t last = 0;
    unsigned still = 0;

    while (still < LOOKS_MAX) {
        if (!look(&now))
            return false;
        if (now.counts >= counts)
            return true;
        still = now.counts == last ? still + 1 : 0;
        last = now.counts;
    }
    return false;
}

/* The frequency, or 0 where this attempt came to nothing. */
static uint64_t attempt(const struct stage *stage)
{
    struct look first, last;

    pit_stopwatch_start();
    if (!look_until(stage->first_ends, &first) ||
        !wait_until(stage->last_begins) ||
        !look_until(stage->last_ends, &last) || last.counts <= first.counts ||
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
