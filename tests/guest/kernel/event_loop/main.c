/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernel/loop.h promises, clause by clause, with QEMU counting
 * instructions: one takes 1 ns, so that "in time" and "next to nothing" are
 * numbers that repeat. The loop is late by what it takes to wake up, not by a
 * tick of the kernel.
 *
 * arch_idle() is wrapped by the linker (ldflags), to distinguish halting from
 * working.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <prof/prof.h>
#include <string.h>

#define MS_NS 1000000ull
#define US_NS 1000ull
#define LATE_NS (20 * US_NS)
#define MANY 100u
#define POLL_CYCLES_MAX 2000

static bool by_pit; /* by=pit, with alarm=pit */

bool service_option(const char *key, const char *value)
{
    by_pit = strcmp(value, "pit") == 0;
    return strcmp(key, "by") == 0;
}

void __wrap_arch_idle(void);
void __real_arch_idle(void);

static unsigned idle_calls;
static uint64_t idle_cycles; /* in arch_idle(), with the interrupts served */

void __wrap_arch_idle(void)
{
    uint64_t begin = arch_tsc();

    __real_arch_idle();
    idle_cycles += arch_tsc() - begin;
    idle_calls++;
}

/* ---- callbacks: each notes a letter, and how it was called */

static struct loop_timer a, b, c, stopper;
static struct loop_timer many[MANY];
static char order[64];
static uint64_t called_ns[16]; /* when, by call */
static unsigned calls;
static unsigned depth, deepest;
static bool interrupts_off;

static void note(const char *letter)
{
    if (calls < sizeof called_ns / sizeof *called_ns)
        called_ns[calls] = clock_ns();
    calls++;
    if (strlen(order) + 1 < sizeof order)
        strncat(order, letter, 1);
    if ((arch_flags() & ARCH_FLAGS_IF) == 0)
        interrupts_off = true;
}

static void on_letter(void *letter)
{
    depth++;
    deepest = depth > deepest ? depth : deepest;
    note(letter);
    depth--;
}

static void on_stop(void *unused)
{
    (void)unused;
    loop_stop();
}

static void forget(void)
{
    calls = 0;
    order[0] = '\0';
}

/* Lets the loop run for (ms). */
static void run(uint64_t ms)
{
    loop_once(&stopper, ms * MS_NS, on_stop, NULL);
    loop_run();
}

/* Waits until (end_ns) without the loop: somebody is busy. */
static void sleep_until(uint64_t end_ns)
{
    while (clock_ns() < end_ns)
        guest_pass();
}

static bool within(uint64_t at_ns, uint64_t due_ns, uint64_t late_ns)
{
    return at_ns >= due_ns && at_ns <= due_ns + late_ns;
}

static bool in_time(uint64_t at_ns, uint64_t due_ns)
{
    return within(at_ns, due_ns, LATE_NS);
}

/* ---- one-shot */

static void test_once(void)
{
    forget();
    loop_once(&a, 25 * MS_NS, on_letter, "a");
    uint64_t due_ns = a.due_ns;

    tap_ok(a.armed, "a timer is armed");
    run(100);
    tap_is_equal(calls, 1, "a one-shot timer is called once");
    tap_ok(in_time(called_ns[0], due_ns), "no sooner than due, hardly later");
    tap_ok(!a.armed, "it is not armed any more");
    tap_ok(!interrupts_off, "callbacks run with interrupts on");

    forget();
    loop_once(&a, 0, on_letter, "a");
    loop_poll();
    tap_is_equal(calls, 1, "without delay, it is due at once");
}

/* Shorter than what a tick takes, and longer than the timer of the CPU counts,
 * and beside ticks of the kernel that end the halt. */
static void test_precise(void)
{
    static const uint64_t delays_us[] = {1, 20, 50, 130, 1000, 12345, 1500000};
    bool in = true;

    for (size_t i = 0; i < sizeof delays_us / sizeof *delays_us; i++) {
        uint64_t due_ns;

        forget();
        loop_once(&a, delays_us[i] * US_NS, on_letter, "a");
        due_ns = a.due_ns;
        while (calls == 0)
            loop_wait();
        tap_note("%u us: %u ns late", (unsigned)delays_us[i],
                 (unsigned)(called_ns[0] - due_ns));
        in = in && in_time(called_ns[0], due_ns);
    }
    tap_ok(in, "timers of a microsecond to a second and a half are in time");
}

static uint64_t last_due_ns;
static bool rising;

static void on_many(void *timer)
{
    const struct loop_timer *this = timer;

    note("m");
    if (this->due_ns < last_due_ns)
        rising = false;
    last_due_ns = this->due_ns;
}

/* Some are late together, others are alone, and none is armed in its order. */
static bool many_in_order(void)
{
    uint32_t dither = 1;

    forget();
    rising = true;
    last_due_ns = 0;
    for (unsigned i = 0; i < MANY; i++) {
        dither = dither * 1664525u + 1013904223u;
        loop_once(&many[i], (dither >> 16) % 1000 * (MS_NS / 10), on_many,
                  &many[i]);
    }
    run(150);
    return calls == MANY && rising;
}

static void test_order(void)
{
    forget();
    loop_once(&c, 30 * MS_NS, on_letter, "c");
    loop_once(&a, 10 * MS_NS, on_letter, "a");
    loop_once(&b, 20 * MS_NS, on_letter, "b");
    run(60);
    tap_ok(strcmp(order, "abc") == 0, "timers are called as they are due");

    forget();
    loop_once(&b, 11 * MS_NS, on_letter, "b");
    loop_once(&a, 10 * MS_NS, on_letter, "a");
    sleep_until(clock_ns() + 40 * MS_NS);
    loop_poll();
    tap_ok(strcmp(order, "ab") == 0, "and also when they are all late");

    tap_ok(many_in_order(), "a hundred timers, each after the one due before");
}

/* ---- periodic */

#define PERIOD_NS (20 * MS_NS)

static uint64_t grid_ns; /* a point of the grid */
static bool on_the_grid;

/* The second call takes more than two periods. */
static void on_grid(void *letter)
{
    uint64_t now_ns = clock_ns();

    note(letter);
    if ((a.due_ns - grid_ns) % PERIOD_NS != 0 || a.due_ns <= now_ns ||
        a.due_ns - now_ns > PERIOD_NS)
        on_the_grid = false;
    if (calls == 2)
        sleep_until(now_ns + 2 * PERIOD_NS + PERIOD_NS / 2);
}

static void test_every(void)
{
    forget();
    on_the_grid = true;
    loop_every(&a, PERIOD_NS, on_grid, "a");
    grid_ns = a.due_ns;
    run(11 * 20 - 12); /* and up to a tick more */
    loop_cancel(&a);
    tap_ok(on_the_grid, "a periodic timer is due on its grid, and next on it");
    tap_ok(in_time(called_ns[0], grid_ns) &&
               in_time(called_ns[1], grid_ns + PERIOD_NS),
           "its calls are in time");
    tap_ok(in_time(called_ns[2], grid_ns + 3 * PERIOD_NS + PERIOD_NS / 2),
           "what was missed is made up at once");
    tap_ok(in_time(called_ns[3], grid_ns + 4 * PERIOD_NS),
           "and by one call, the next is on the grid");
    tap_is_equal(calls, 9, "of ten periods, one call fell out");
}

/* Longer than its own period. */
static void on_slow(void *letter)
{
    note(letter);
    sleep_until(clock_ns() + 30 * MS_NS);
}

static void test_slow(void)
{
    forget();
    loop_every(&a, MS_NS, on_slow, "a");
    sleep_until(clock_ns() + 2 * MS_NS);
    loop_poll();
    tap_is_equal(calls, 1, "slower than its period, it does not hold the loop");
    loop_cancel(&a);

    forget();
    loop_every(&a, 0, on_letter, "a");
    loop_poll();
    tap_is_equal(calls, 1, "nor does it with a period of 0");
    loop_cancel(&a);
}

/* ---- changed by callbacks */

static void on_cancel_own(void *letter)
{
    note(letter);
    if (calls == 3)
        loop_cancel(&a);
}

static void on_cancel_next(void *letter)
{
    note(letter);
    loop_cancel(&b);
}

static void on_arm_again(void *letter)
{
    note(letter);
    if (calls < 5)
        loop_once(&a, 10 * MS_NS, on_arm_again, letter);
}

static void on_once_more(void *letter)
{
    note(letter);
    if (calls == 1)
        loop_once(&a, 10 * MS_NS, on_letter, "o");
}

static void on_other_period(void *letter)
{
    note(letter);
    if (calls == 1)
        loop_every(&a, 30 * MS_NS, on_other_period, letter);
}

static void test_changes(void)
{
    forget();
    loop_every(&a, 10 * MS_NS, on_cancel_own, "a");
    run(100);
    tap_is_equal(calls, 3, "a periodic timer can cancel itself");

    forget();
    loop_once(&a, 10 * MS_NS, on_cancel_next, "a");
    loop_once(&b, 11 * MS_NS, on_letter, "b");
    sleep_until(clock_ns() + 30 * MS_NS);
    loop_poll();
    tap_ok(strcmp(order, "a") == 0, "one that is due can still be cancelled");

    forget();
    loop_once(&a, 10 * MS_NS, on_arm_again, "a");
    run(150);
    tap_is_equal(calls, 5, "a one-shot timer can arm itself again");

    forget();
    loop_every(&a, 10 * MS_NS, on_once_more, "p");
    run(100);
    tap_ok(strcmp(order, "po") == 0, "a periodic timer can become a one-shot");

    forget();
    loop_every(&a, 10 * MS_NS, on_other_period, "a");
    run(115);
    loop_cancel(&a);
    tap_is_equal(calls, 4, "or take another period");
}

static void test_armed_again(void)
{
    forget();
    loop_once(&a, 10 * MS_NS, on_letter, "x");
    loop_once(&a, 40 * MS_NS, on_letter, "y");
    run(30);
    tap_is_equal(calls, 0, "armed again, the first time does not count");
    run(30);
    tap_ok(strcmp(order, "y") == 0, "but the second does, once");

    forget();
    loop_cancel(&a);
    loop_cancel(&a);
    loop_cancel(&c);
    run(30);
    tap_is_equal(calls, 0, "cancelling what is not armed is harmless");
}

/* ---- poll and wait */

static void on_poll(void *letter)
{
    on_letter(letter);
    depth++;
    loop_poll();
    loop_wait();
    depth--;
}

static void test_poll(void)
{
    forget();
    deepest = 0;
    loop_once(&a, 10 * MS_NS, on_poll, "a");
    loop_once(&b, 11 * MS_NS, on_letter, "b");
    sleep_until(clock_ns() + 30 * MS_NS);
    loop_poll();
    tap_ok(strcmp(order, "ab") == 0 && deepest == 1, "callbacks never nest");

    forget();
    loop_once(&a, 500 * MS_NS, on_letter, "a");
    uint64_t begin = arch_tsc();

    loop_poll();
    tap_is_between((long long)(arch_tsc() - begin), 1, POLL_CYCLES_MAX,
                   "with nothing due, a poll takes next to nothing");
    tap_is_equal(calls, 0, "and calls nothing");
    loop_cancel(&a);
}

static unsigned turns;

static void count_turn(void)
{
    turns++;
}

static bool never(void)
{
    return false;
}

/* A second in which nothing is to be done but to end it. */
static void idle_second(void)
{
    uint64_t begin = arch_tsc(), busy;

    turns = idle_calls = 0;
    idle_cycles = 0;
    run(1000);
    busy = arch_tsc() - begin - idle_cycles;
    tap_note("%u halts, %u instructions", idle_calls, (unsigned)busy);
}

static void test_halt(void)
{
    static struct loop_source counter = {.waiting = never, .turn = count_turn};
    uint64_t ticks = clock_ticks();

    loop_add(&counter);
    idle_second();
    tap_is_equal(turns, 1, "a second without work is one turn of the loop");
    if (by_pit)
        tap_is_between(idle_calls, 18, 20, "and as many halts as it must be");
    else
        tap_is_between(idle_calls, 1, 2, "and as many halts as it must be");
    tap_is_equal((long long)(clock_ticks() - ticks), 0, "without a tick");

    tap_is_equal(prof_start(), 0, "while samples are taken");
    idle_second();
    prof_stop();
    tap_is_equal(turns, 1, "it is one turn, too");
    tap_is_between(idle_calls, 950, 1050, "though each sample ends a halt");
}

/* The last test ends the loop that service_main() has left to the kernel. */
static void on_last(void *unused)
{
    (void)unused;
    tap_ok(true, "a service that returns SERVICE_LOOP has its loop run");
    loop_stop();
    if (tap_end() != 0)
        kernel_exit(1);
}

int service_main(void)
{
    tap_plan(35);
    test_once();
    test_precise();
    test_order();
    test_every();
    test_slow();
    test_changes();
    test_armed_again();
    test_poll();
    test_halt();
    loop_once(&a, MS_NS, on_last, NULL);
    return SERVICE_LOOP;
}
