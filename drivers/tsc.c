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
 * by the PIT's output, and the whole is tried again.
 */

#include "tsc.h"

#include "pit.h"

#include <arch/cpu.h>
#include <stdbool.h>

#define ATTEMPTS 8u
#define LOOKS_MAX 4000u  /* a PIT that does not count ends the loop */
#define FIRST_ENDS 7000u /* counts, about 6 ms each */
#define LAST_BEGINS 52000u
#define LAST_ENDS 59000u

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

/* The narrowest look taken before (counts_end). False: none, or run out. */
static bool look_until(uint32_t counts_end, struct look *best)
{
    struct look now;
    bool found = false;

    for (unsigned looks = 0; looks < LOOKS_MAX; looks++) {
        if (!look(&now))
            return false;
        if (now.counts >= counts_end)
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

uint64_t tsc_calibrate(void)
{
    struct look first, last;

    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        pit_stopwatch_start();
        if (look_until(FIRST_ENDS, &first) && wait_until(LAST_BEGINS) &&
            look_until(LAST_ENDS, &last) && last.counts > first.counts)
            return (last.tsc - first.tsc) * PIT_HZ /
                   (last.counts - first.counts);
    }
    return 0;
}
