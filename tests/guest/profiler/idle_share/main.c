/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A service that works in a timer's callback and leaves the rest to the event
 * loop, which halts. The share of idle samples, and of idle time, must be the
 * share of time that was halted.
 *
 * The loop's timers have a clock of their own, so work and drains begin at any
 * point of a sampling period, and are seen like any other code. Drains are
 * neither idle nor work.
 *
 * By time, a slice errs by up to half a period more or less: the sum of SLICES
 * by 0.05 points (one standard deviation). By samples, a slice of 50 ms has
 * between 33 and 100 of them, for a period stays for 32: in a model of 4,000
 * runs the share varies by 0.42 points at 50 % of work, by less at others. What
 * is accepted is five deviations: chance leads outside once in a million tests.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <stdlib.h>

/* Shares are in hundredths of a per cent. */
#define SLICES 60
#define SLICE_MS 100u
#define TIME_OFF 25
#define COUNT_OFF 210

static uint64_t worked; /* cycles */
static int slices;
static uint32_t busy_percent;

static void work(void *unused)
{
    uint64_t begin = arch_tsc();
    uint32_t around;

    (void)unused;
    around =
        SLICE_MS * busy_percent * 10 - 5000 + (guest_random() >> 8) % 10000;
    guest_spin((uint64_t)around * (GUEST_MS / 1000));
    worked += arch_tsc() - begin;
    slices++;
}

/* (part) of (whole) in hundredths of a per cent. */
static int parts_of(uint64_t part, uint64_t whole)
{
    return (int)(part * 10000 / whole);
}

/* Whether (share) is at most (off) outside of the two others. */
static bool fits(int share, int least, int most, int off)
{
    return share >= least - off && share <= most + off;
}

static void test_share(uint32_t percent, const char *what)
{
    struct loop_timer timer = {0};
    struct prof_stats stats;
    uint64_t begin, all;
    int halted, least, most, time, count;

    busy_percent = percent;
    worked = 0;
    slices = 0;
    prof_drain();
    prof_reset();
    begin = arch_tsc();
    loop_every(&timer, SLICE_MS * 1000000ull, work, NULL);
    while (slices < SLICES)
        loop_wait();
    loop_cancel(&timer);
    all = arch_tsc() - begin;
    prof_drain();
    stats = guest_stats();
    halted = least = parts_of(all - worked - stats.drain_cycles, all);
    most = least + parts_of(stats.drain_cycles, all);
    time = parts_of(stats.idle_cycles, stats.elapsed_cycles);
    count = parts_of(stats.idle, stats.ticks);
    tap_note("halted %d.%02d %% of the time, idle should be %d.%02d to "
             "%d.%02d %%: of the time %d.%02d, of the samples %d.%02d %%",
             halted / 100, halted % 100, least / 100, least % 100, most / 100,
             most % 100, time / 100, time % 100, count / 100, count % 100);
    tap_ok(fits(time, least, most, TIME_OFF) &&
               fits(count, least, most, COUNT_OFF),
           what);
}

int service_main(void)
{
    tap_plan(3);
    test_share(50, "half idle");
    test_share(20, "four fifths idle");
    test_share(90, "a tenth idle");
    return tap_end();
}
