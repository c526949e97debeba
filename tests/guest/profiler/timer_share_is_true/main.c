/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The share of work that timers start, of 7.6 % of the time, as samples show it
 * at 1 kHz: work of 760 us every 10 ms, and of some 6 us after each of many
 * sleeps of 30 to 130 us. Where timers and samples have one clock such work is
 * over before the next sample comes, and 7.6 % look like 0.5 %.
 *
 * QEMU counts instructions, of which one takes 1 ns, so the truth is what the
 * TSC says. It has to be in the interval of the sampled share, at 3.3 standard
 * deviations: by chance one layout of the image in a thousand fails.
 *
 * tests/truth runs one of both (work=long, work=short), recorded, and counts
 * what work() executes from outside.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <string.h>

#define SECONDS 8u
#define SLEEP_NS_MIN 30000u
#define SLEEP_NS_MAX 130000u
#define LONG_CYCLES 760000u   /* every 10 ms */
#define SHORT_CYCLES 6600u    /* after 80 us, and what it takes to wake up */
#define DEVIATIONS_SQUARED 11 /* 3.3 squared */

static struct loop_timer timer, stopper;
static uint64_t worked; /* cycles */
static bool is_short;
static bool does_long = true, does_short = true; /* work=long, work=short */

bool service_option(const char *key, const char *value)
{
    bool is_long = strcmp(value, "long") == 0;

    if (strcmp(key, "work") != 0 || (!is_long && strcmp(value, "short") != 0))
        return false;
    does_long = is_long;
    does_short = !is_long;
    return true;
}

static __attribute__((noinline)) void work(uint32_t cycles)
{
    uint64_t begin = arch_tsc();

    guest_spin(cycles);
    worked += arch_tsc() - begin;
}

static void on_timer(void *unused)
{
    (void)unused;
    work(is_short ? SHORT_CYCLES : LONG_CYCLES);
    if (is_short)
        loop_once(&timer,
                  SLEEP_NS_MIN + guest_random() % (SLEEP_NS_MAX - SLEEP_NS_MIN),
                  on_timer, NULL);
}

static void on_stop(void *unused)
{
    (void)unused;
    loop_stop();
}

/* Shares in millionths. p is in the interval around the sampled one where
 * (sampled - p)^2 <= z^2 p (1 - p) / n, as Wilson has it. */
static bool inside(int64_t sampled, int64_t p, uint64_t samples)
{
    int64_t off = sampled - p;

    return off * off <=
           DEVIATIONS_SQUARED * p * (1000000 - p) / (int64_t)samples;
}

static void test_share(const char *what)
{
    uint64_t begin = arch_tsc(), elapsed;
    struct prof_stats stats;
    struct prof_row row;
    int64_t sampled, truth;

    worked = 0;
    prof_reset();
    (void)prof_start();
    if (is_short)
        on_timer(NULL);
    else
        loop_every(&timer, 10 * NS_PER_MS, on_timer, NULL);
    loop_once(&stopper, SECONDS * NS_PER_S, on_stop, NULL);
    loop_run();
    loop_cancel(&timer);
    prof_stop();
    elapsed = arch_tsc() - begin;
    prof_drain();
    stats = guest_stats();
    row = guest_row((uintptr_t)work);
    sampled = (int64_t)(row.samples * 1000000 / stats.ticks);
    truth = (int64_t)(worked / (elapsed / 1000000));
    tap_note("%u of %u samples: %u of a million, and %u are true",
             (unsigned)row.samples, (unsigned)stats.ticks, (unsigned)sampled,
             (unsigned)truth);
    tap_is_between(truth, 70000, 82000, what);
    tap_is_between((int64_t)stats.ticks, 7900, 8100, "  samples come");
    tap_ok(inside(sampled, truth, stats.ticks),
           "  its share is in the interval of the sampled one");
}

int service_main(void)
{
    tap_plan(3 * (does_long + does_short));
    if (does_long)
        test_share("work every 10 ms takes 7.6 % of the time");
    is_short = true;
    if (does_short)
        test_share("work after short sleeps takes 7.6 % of the time");
    return tap_end();
}
