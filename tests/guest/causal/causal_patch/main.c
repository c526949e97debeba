/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that are patched by name: their time, however they are entered and
 * left; what goes in and comes out; what cannot be patched, and why; and the
 * code as it was, afterwards. QEMU counts instructions, so that times are
 * known.
 */

#include "guest/tap.h"

#include "code.h"

#include <arch/boot.h>
#include <kernel/clock.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <kernel/task.h>
#include <prof/causal.h>
#include <prof/error.h>
#include <prof/prof.h>
#include <prof/symbols.h>
#include <stdio.h>
#include <stdlib.h>

#define CYCLES 1000000u
#define ERROR_MAX 10000  /* cycles that what is around the calls may take */
#define ERROR_A_VISIT 25 /* and what is around each */
#define ERROR_OWN 4      /* instructions of the profiler in each, at most */

static const struct prof_causal_settings settings_of_nothing;
static struct prof_causal_settings settings;
static PROF_PROGRESS(unit, "unit");
static PROF_TARGET(by_hand, "by hand");

static void add(const char *name)
{
    char what[64];

    snprintf(what, sizeof what, "%s can be patched", name);
    tap_is_equal(prof_causal_add_function(name, PROF_CAUSAL_TARGET), 0, what);
}

static void cannot(const char *name, int error)
{
    char what[80];

    snprintf(what, sizeof what, "%s cannot: %s", name, prof_strerror(error));
    tap_is_equal(prof_causal_add_function(name, PROF_CAUSAL_TARGET_ENTRY),
                 error, what);
}

static uint64_t lag(void)
{
    struct prof_causal_stats stats;

    prof_causal_stats(&stats);
    return stats.delay_cycles;
}

static uint64_t lag_before, visits_before;
static const struct prof_target *target;

/* From now on (name) takes half of its time. */
static void begin(const char *name)
{
    settings = settings_of_nothing;
    settings.tsc_hz = clock_tsc_hz();
    target = prof_causal_target(name);
    prof_causal_start(&settings);
    prof_causal_fix(target, PROF_ONE / 2);
    lag_before = lag();
    visits_before = target->visits;
}

/* It ran for (cycles) meanwhile, and perhaps for up to (more). */
static void ran_about(uint64_t cycles, uint64_t more, uint64_t visits,
                      const char *what)
{
    int64_t error = (int64_t)(2 * (lag() - lag_before) - cycles);
    int64_t most = ERROR_MAX + (int64_t)visits * ERROR_A_VISIT;

    tap_note("%s: off by %d cycles", target->name, (int)error);
    if (tap_ok(error > -most && error < most + (int64_t)more, what))
        tap_is_equal((long long)(target->visits - visits_before),
                     (long long)visits, "as many visits");
    else
        tap_ok(false, "as many visits");
    prof_causal_stop();
}

static void ran(uint64_t cycles, uint64_t visits, const char *what)
{
    ran_about(cycles, 0, visits, what);
}

/* ---- entered and left */

static void test_calls(void)
{
    begin("plain");
    plain(CYCLES);
    spin_for(CYCLES);
    plain(CYCLES);
    ran(2 * CYCLES, 2, "two calls");
    begin("recursive");
    recursive(9, CYCLES / 10);
    spin_for(CYCLES);
    ran(CYCLES, 1, "recursion counts once");
    begin("tail_call");
    tail_call(CYCLES);
    spin_for(CYCLES);
    ran(CYCLES, 1, "a tail call counts");
    begin("plain");
    tail_call(CYCLES);
    spin_for(CYCLES);
    ran(CYCLES, 1, "and so does the function that it leads to");
}

static jmp_buf back;

static void test_longjmp(void)
{
    begin("jumps_out");
    if (setjmp(back) == 0)
        jumps_out(&back, CYCLES);
    loop_poll();
    spin_for(CYCLES);
    ran(CYCLES, 1, "left by longjmp(), known when the loop turns");
    begin("jumps_out");
    for (volatile int i = 0; i < 10; i++)
        if (setjmp(back) == 0)
            jumps_out(&back, CYCLES);
    loop_poll();
    ran(10 * CYCLES, 10, "and when it is called again");
}

static uintptr_t waits(void *unused);
NAMED uintptr_t waits_inside(void);
NAMED uintptr_t waits_inside(void)
{
    spin_for(CYCLES);
    task_await(promise_sleep(5 * 1000000));
    spin_for(CYCLES);
    return 0;
}

static uintptr_t waits(void *unused)
{
    (void)unused;
    return waits_inside();
}

static struct loop_timer stop_timer;

static void on_stop(void *unused)
{
    (void)unused;
    loop_stop();
}

static void test_tasks(void)
{
    struct promise *tasks[3];

    begin("waits_inside");
    for (unsigned i = 0; i < 3; i++)
        tasks[i] = task_start("waits", waits, NULL);
    spin_for(CYCLES);
    loop_once(&stop_timer, 20 * 1000000, on_stop, NULL);
    loop_run();
    for (unsigned i = 0; i < 3; i++)
        promise_free(tasks[i]);
    ran(6 * CYCLES, 3, "tasks that wait inside");
}

NAMED void runs_loop(void);
NAMED void runs_loop(void)
{
    loop_once(&stop_timer, 20 * 1000000, on_stop, NULL);
    loop_run();
}

static void test_loop(void)
{
    begin("runs_loop");
    runs_loop();
    ran(0, 1, "a function that runs the loop does not count");
}

static bool stalls;

NAMED void polls(void);
NAMED void polls(void)
{
    static uint32_t turns;

    spin_for(CYCLES / 50);
    if (stalls && ++turns % 50 == 0)
        spin_for(CYCLES);
}

static bool never(void)
{
    return false;
}

static void on_plain(void *unused)
{
    for (unsigned i = 0; i < 50; i++)
        polls();
    on_stop(unused);
}

/* Called in each turn of a loop that would halt, and 50 times where there is
 * work; once more in each turn in which a timer is due, such as the kernel's
 * own, of which there are fewer than one in a millisecond. */
static void test_polling(void)
{
    static struct loop_source source = {.waiting = never, .turn = polls};
    static struct loop_timer timer;
    uint64_t visits;

    loop_add(&source);
    begin("polls");
    loop_once(&timer, 20 * 1000000, on_plain, NULL);
    loop_run();
    visits = target->visits - visits_before;
    ran_about(CYCLES, 20 * (CYCLES / 50), visits,
              "looking for work does not count");
    tap_ok(visits > 100, "though it was called");
}

/* In a loop that waits for 20 ms, and perhaps has a turn of a millisecond after
 * each millisecond. A turn in which a timer is due does not count. */
static uint64_t stolen(bool with_stalls)
{
    struct prof_causal_stats stats;

    begin("plain");
    stalls = with_stalls;
    loop_once(&stop_timer, 20 * 1000000, on_stop, NULL);
    loop_run();
    prof_causal_stats(&stats);
    prof_causal_stop();
    return stats.stolen_cycles;
}

static void test_stolen(void)
{
    uint64_t cycles = stolen(false);

    tap_is_equal((long long)cycles, 0, "nobody takes time from a loop");
    cycles = stolen(true);
    tap_note("%u cycles stolen", (unsigned)cycles);
    stalls = false;
    tap_ok(cycles > 2 * CYCLES && cycles < 12 * CYCLES,
           "what stalls it while it waits is stolen");
    prof_causal_report();
}

static void test_values(void)
{
    struct three three;

    begin("wide");
    three = returns_struct(1, 2, 3);
    tap_ok(three.first == 3 && three.second == 1 && three.third == 2,
           "a struct is returned");
    tap_ok(floats(1.5, 2.25f, 4.125L) == 7.875, "and floats");
    tap_ok(wide(0x100000001, 0x300000007) == 0x0000000a00000007, "and 64 bits");
    tap_ok(switches(1) == 11 && switches(5) == 0, "and what a table has");
    tap_is_equal((long long)all_relative(41), 42, "relative operands");
    tap_is_equal((long long)calls_first(), 42, "a call that was moved");
    prof_causal_stop();
}

/* ---- beside the sampler */

/* Visits so short that what the profiler takes would be seen in them. */
static void test_short(void)
{
    begin("plain");
    for (unsigned i = 0; i < 1000; i++)
        plain(CYCLES / 500);
    ran(2 * CYCLES, 1000, "short calls have their own time only");
    begin("by hand");
    for (unsigned i = 0; i < 1000; i++) {
        prof_target_enter(&by_hand);
        spin_for(CYCLES / 500);
        prof_target_leave(&by_hand);
    }
    ran(2 * CYCLES, 1000, "and so have short visits by hand");
    begin("calls_plain");
    calls_plain(CYCLES);
    ran(CYCLES, 1, "calls of other targets do not count");
    begin("by hand");
    prof_target_enter(&by_hand);
    for (unsigned i = 0; i < 200; i++) {
        spin_for(CYCLES / 200);
        prof_progress(&unit);
    }
    prof_target_leave(&by_hand);
    ran(CYCLES, 1, "nor do visits of a point");
}

/* ---- what experiments add to the program */

#define ROUNDS 1000u
#define ROUND_CYCLES 2000u

static void calls_it(void)
{
    plain(ROUND_CYCLES);
}

static void calls_it_100_times(void)
{
    calls_plain(ROUND_CYCLES);
}

static void enters_by_hand(void)
{
    prof_target_enter(&by_hand);
    spin_for(ROUND_CYCLES);
    prof_target_leave(&by_hand);
}

static void has_nothing(void)
{
    spin_for(ROUND_CYCLES);
}

/* Instructions of a round, with everything a round has around it. */
static uint32_t of_a_round(void (*round)(void))
{
    uint64_t before = prof_causal_time();

    for (unsigned i = 0; i < ROUNDS; i++)
        round();
    return (uint32_t)(prof_causal_time() - before) / ROUNDS;
}

/* While (name) is the target, but no faster, a round takes as long by virtual
 * time as without experiments. (visits) there are in it. */
static void takes_as_long(const char *name, void (*round)(void), int visits,
                          const char *what)
{
    uint32_t without = of_a_round(round), with;

    begin(name);
    prof_causal_fix(target, 0);
    with = of_a_round(round);
    prof_causal_stop();
    tap_note("%s: %u instructions, in experiments %u", name, (unsigned)without,
             (unsigned)with);
    tap_ok(abs((int)(with - without)) <= ERROR_OWN * visits, what);
}

/* Otherwise experiments would be with another program. */
static void test_own(void)
{
    takes_as_long("plain", has_nothing, 0, "what is not called takes as long");
    takes_as_long("plain", calls_it, 1, "a target takes as long as it does");
    takes_as_long("calls_plain", calls_it, 1, "and so does another");
    takes_as_long("calls_plain", calls_it_100_times, 101,
                  "and one that calls others");
    takes_as_long("by hand", enters_by_hand, 1, "and one by hand");
}

static unsigned samples_in, samples_right, samples_wrong;
static struct prof_symbol function_is, caller_is;

static void see(const struct prof_stack_row *row, void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i + 1 < row->count; i++) {
        if (row->addresses[i] - function_is.start >= function_is.size)
            continue;
        samples_in += (unsigned)row->samples;
        if (row->addresses[i + 1] - caller_is.start < caller_is.size)
            samples_right += (unsigned)row->samples;
        else
            samples_wrong += (unsigned)row->samples;
    }
}

/* Samples of (function) have the caller (caller). */
static void have_caller(void (*function)(void), void (*caller)(void),
                        const char *what)
{
    prof_symbol_find((uintptr_t)function, &function_is);
    prof_symbol_find((uintptr_t)caller, &caller_is);
    samples_in = samples_right = samples_wrong = 0;
    prof_drain();
    prof_visit_stacks(see, NULL);
    tap_note("%u samples in it, %u with its caller, %u with another",
             samples_in, samples_right, samples_wrong);
    tap_ok(samples_in > 100, what);
    tap_ok(samples_wrong * 50 <= samples_in, "with the right caller");
}

NAMED void calls_has_an_address(void);
NAMED void calls_has_an_address(void)
{
    for (unsigned i = 0; i < 5000; i++)
        has_an_address();
    __asm__ volatile("");
}

static void test_samples(void)
{
    prof_set_rate(5000);
    prof_start();
    begin("plain");
    calls_plain(CYCLES);
    for (unsigned i = 0; i < 50; i++)
        calls_plain(CYCLES);
    ran(51 * CYCLES, 5100, "sampled meanwhile, the time is right");
    have_caller((void (*)(void))plain, (void (*)(void))calls_plain,
                "there are samples in it");
    begin("has_an_address");
    calls_has_an_address();
    have_caller(has_an_address, calls_has_an_address,
                "and in a function that was never sampled before");
    prof_causal_stop();
    prof_stop();
}

/* ---- the code */

static uint32_t sum_of_text(void)
{
    uint32_t sum = 0;

    for (const char *at = text_begin; at < text_end; at++)
        sum = sum * 31 + (uint8_t)*at;
    return sum;
}

static void test_code(void)
{
    uint32_t before = sum_of_text();

    begin("plain");
    tap_ok(sum_of_text() != before, "code is patched");
    prof_causal_stop();
    tap_ok(sum_of_text() == before, "and restored byte for byte");
    prof_start();
    for (unsigned i = 0; i < 200; i++) {
        begin("plain");
        plain(CYCLES / 100);
        prof_causal_stop();
    }
    prof_stop();
    tap_ok(sum_of_text() == before, "with interrupts, and 200 times");
}

static void test_refused(void)
{
    cannot("inlined_everywhere", PROF_EPATCH_NAME);
    cannot("too_short", PROF_EPATCH_SHORT);
    cannot("branches_back", PROF_EPATCH_BRANCH);
    cannot("unknown_code", PROF_EPATCH_CODE);
    cannot("prof_drain", PROF_EPATCH_OWN);
    begin("plain");
    cannot("plain", PROF_ESTATE);
    prof_causal_stop();
}

int service_main(void)
{
    static const char *const names[] = {
        "plain",          "recursive",   "jumps_out",      "tail_call",
        "waits_inside",   "runs_loop",   "wide",           "floats",
        "returns_struct", "polls",       "switches",       "all_relative",
        "calls_first",    "calls_plain", "has_an_address",
    };

    tap_plan(70);
    prof_causal_add_progress(&unit);
    prof_causal_add_target(&by_hand);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        add(names[i]);
    test_refused();
    test_calls();
    test_longjmp();
    test_tasks();
    test_loop();
    test_polling();
    test_stolen();
    test_values();
    test_short();
    test_own();
    test_samples();
    test_code();
    return tap_end();
}
