/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Every tick is in one account, to the last one: while idle, with interrupts
 * off, in code that has no name, while the vector and the overflow table are
 * full, over stops, starts, other rates, and after a reset.
 *
 * After each part sampling stops, the report is printed, and accounts_mark() is
 * called, which does nothing: tests/truth counts the ticks from outside up to
 * there, and holds the report's closing rows against them.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>

/* Interrupts are off for nine in ten of its 400 (rounds) instructions. */
void dark(uint32_t rounds);

/* Goes on after its own end, (rounds) times a hundred instructions: in no
 * function of the table. */
void nameless(uint32_t rounds);

/* 4,000 addresses that are all met as often, (rounds) times. */
void wide(uint32_t rounds);

void accounts_mark(void);

/* Where the ticks so far are counted. */
__attribute__((noipa)) void accounts_mark(void)
{
}

static struct prof_stats before, stats;

/* What (part) has added is in (stats) and (before) then. One test. */
static void part(const char *what)
{
    prof_stop();
    prof_drain();
    before = stats;
    stats = guest_stats();
    console_line("part: %s", what);
    prof_report();
    accounts_mark();
    tap_ok(guest_accounted(&stats) == stats.ticks && stats.queued == 0 &&
               stats.ticks >= before.ticks,
           what);
}

static void stop_waiting(void *context)
{
    *(bool *)context = true;
}

static void rest(void)
{
    struct loop_timer timer = {0};
    bool over = false;

    loop_once(&timer, 300000000u, stop_waiting, &over);
    while (!over)
        loop_wait();
}

static void test_kinds(void)
{
    prof_set_rate(997);
    prof_start();
    guest_poll(GUEST_TSC_HZ / 5);
    part("work");
    prof_start();
    rest();
    part("rest");
    tap_ok(stats.idle - before.idle > 150, "  it is idle");
    prof_start();
    for (int i = 0; i < 250; i++) {
        dark(5000);
        loop_poll();
    }
    part("interrupts off");
    /* NMIs come all the same, and say so */
    tap_ok(stats.masked + stats.irqs_off - before.masked - before.irqs_off >
               300,
           "  they are masked");
    prof_start();
    for (int i = 0; i < 250; i++) {
        nameless(10000);
        loop_poll();
    }
    part("code without a name");
    tap_ok(stats.unresolved - before.unresolved > 150, "  it is unresolved");
}

static void test_overflow(void)
{
    prof_set_rate(10000);
    prof_start();
    wide(100000);
    part("no drain for 0.4 s, at 10 kHz");
    tap_ok(stats.overflowed > before.overflowed, "  the vector overflows");
    tap_ok(stats.dropped - before.dropped > 1000, "  and so does the table");
    prof_start();
    for (int i = 0; i < 6; i++) {
        wide(60000);
        prof_drain();
    }
    part("a slow callback, and drains between");
    tap_ok(stats.overflowed > before.overflowed, "  it overflows at times");
}

static void test_rates(void)
{
    static const uint32_t rates[] = {2500, 100, 777, 10000, 1, 1000, 333};

    prof_start();
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        prof_set_rate(rates[i]);
        guest_poll(GUEST_TSC_HZ / 20);
    }
    part("other rates");
}

static void test_pauses(void)
{
    prof_set_rate(5000);
    for (uint32_t i = 0; i < 40; i++) {
        prof_start();
        guest_spin(GUEST_MS / 7 * i);
        prof_stop();
        guest_spin(GUEST_MS / 11 * (i % 13));
    }
    part("stops and starts");
    for (uint32_t i = 0; i < 20; i++) {
        bool on;

        prof_start();
        guest_spin(GUEST_MS / 9 * i);
        on = arch_interrupts_save();
        prof_stop();
        arch_interrupts_restore(on);
        guest_spin(GUEST_MS / 13 * (i % 17));
    }
    part("stops with interrupts off");
}

int service_main(void)
{
    tap_plan(24);
    accounts_mark();
    test_kinds();
    test_overflow();
    test_rates();
    test_pauses();
    console_line("part: reset");
    prof_reset();
    stats = guest_stats();
    tap_ok(stats.ticks == 0, "nothing is left after a reset");
    accounts_mark();
    test_rates();
    test_kinds();
    return tap_end();
}
