/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A service that works in a timer's callback and leaves the rest to the event
 * loop, which halts. The share of idle samples, and of idle time, must be the
 * share of time that was halted.
 *
 * Work that a tick has woken begins just behind one, so the sampler does not
 * see the last part of a slice of work that is shorter than its period: half a
 * period a slice, on average. Slices are therefore long against the period.
 *
 * The number of samples in a slice depends on the periods that were chosen
 * while it lasted. A test has some 190 of them, which vary by 29 % around their
 * mean: a share by samples is off by a point as often as not, one by time is
 * not.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <stdlib.h>

#define SLICES 60
#define SLICE_MS 100u
#define TIME_OFF 150  /* hundredths of a per cent */
#define COUNT_OFF 450 /* four standard deviations, and what is not seen */

static uint64_t worked; /* cycles */
static int slices;
static uint32_t busy_percent;

static void work(void *unused)
{
    static uint32_t dither = 3;
    uint64_t begin = arch_tsc();
    uint32_t around;

    (void)unused;
    dither = dither * 1664525u + 1013904223u;
    around = SLICE_MS * busy_percent * 10 - 5000 + (dither >> 16) % 10000;
    guest_spin((uint64_t)around * (GUEST_MS / 1000));
    worked += arch_tsc() - begin;
    slices++;
}

/* (part) of (whole) in hundredths of a per cent. */
static int parts_of(uint64_t part, uint64_t whole)
{
    return (int)(part * 10000 / whole);
}

static void test_share(uint32_t percent, const char *what)
{
    struct loop_timer timer = {0};
    struct prof_stats stats;
    uint64_t begin, all;
    int halted, time, count;

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
    halted = parts_of(all - worked - stats.drain_cycles, all);
    time = parts_of(stats.idle_cycles, stats.elapsed_cycles);
    count = parts_of(stats.idle, stats.ticks);
    tap_note("halted %d.%02d %% of the time, idle are %d.%02d %% of it and "
             "%d.%02d %% of the samples",
             halted / 100, halted % 100, time / 100, time % 100, count / 100,
             count % 100);
    tap_ok(abs(time - halted) <= TIME_OFF && abs(count - halted) <= COUNT_OFF,
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
