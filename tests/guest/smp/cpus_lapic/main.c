/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Each CPU sampled by its own local APIC's timer, which is shared with the
 * kernel, or, with lapic.own, the profiler's alone. All but CPU 0 execute
 * leaf_a and leaf_b as 70 to 30. Sampling is stopped and goes on, at another
 * rate, and CPU 1 leaves, where its own timer has a tick pending. Sampling is
 * also stopped while CPU 1 has interrupts off: the gate is kept until they are
 * on, and the kernel's own timers go on. Other code arms the timer of CPU 1, or
 * turns it off, and it is taken back. In the end the timers are as before.
 *
 * A host that is busy runs CPUs late and delivers few ticks: nothing here
 * depends on how many come in what time.
 */

#include "../../../../arch/x86/lapic.h"
#include "../../../../services/split/leaf.h"
#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <arch/cpu.h>
#include <arch/timer.h>
#include <arch/trap.h>
#include <kernel/cpu.h>
#include <kernel/service.h>
#include <prof/cpus.h>
#include <prof/lapic.h>
#include <string.h>

#define CPUS_MAX 8u
#define FREE_VECTOR 47u /* of a line that nothing uses */
#define TICKS 60u       /* of each CPU, each time */
#define ROUNDS 50u
#define FIRES 5u
#define FAR 0x40000000u       /* counts of a timer, a second or more */
#define LAPIC_REQUESTS 0x200u /* 32 vectors each, 16 bytes apart */
#define LAPIC_IN_SERVICE 0x100u

static bool own; /* the timers are the profiler's */

bool service_option(const char *key, const char *value)
{
    own = strcmp(key, "lapic.own") == 0 && strcmp(value, "1") == 0;
    return own;
}

static void mask_timer(void)
{
    lapic_set(LAPIC_LVT_TIMER, LAPIC_LVT_MASKED | FREE_VECTOR);
}

static uint32_t kicked; /* CPUs, a bit each */
static void (*kernel_kick)(uint32_t number);

static void kick(uint32_t number)
{
    kicked |= 1u << number;
    kernel_kick(number);
}

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config changed = *config;

    kernel_kick = config->kick;
    changed.kick = kick;
    if (own) {
        changed.tick = (struct prof_tick){.kind = PROF_TICK_LAPIC,
                                          .lapic_vector = FREE_VECTOR};
        mask_timer();
    }
    return __real_prof_init(memory, bytes, &changed);
}

static volatile uint32_t fires; /* of the kernel's timer of CPU 0 */
static void (*kernel_fired)(void);

bool __real_arch_timer_start(uint64_t tsc_hz, void (*fired)(void));
bool __wrap_arch_timer_start(uint64_t tsc_hz, void (*fired)(void));

static void on_fire(void)
{
    if (cpu_number() == 0)
        fires++;
    kernel_fired();
}

bool __wrap_arch_timer_start(uint64_t tsc_hz, void (*fired)(void))
{
    kernel_fired = fired;
    return __real_arch_timer_start(tsc_hz, on_fire);
}

/* Written by one CPU each. */
static struct {
    volatile uint32_t rounds;
    volatile bool has_ended; /* its timer is not armed by anybody */
    volatile bool is_idle, has_left, has_fired, is_as_before, is_off;
    uint32_t timer_before, divide_before;
} cpus[CPUS_MAX] __attribute__((aligned(64)));

/* Written by CPU 0. */
static volatile bool ends, leaves, stopped, is_kept_off, is_spoilt;
static uintptr_t kernel_handler; /* of the timers' vector */

/* ---- the others */

/* A round of varying length, so that samples do not keep step with it. */
static void work(uint32_t *random)
{
    uint32_t units;

    *random = *random * 1664525u + 1013904223u;
    units = 256 + (*random >> 16 & 255);
    leaf_a(SPLIT_TURNS(units * 7));
    leaf_b(SPLIT_TURNS(units * 3));
}

/* The bit of a timer's vector. */
static bool is_set(uint32_t table)
{
    return (lapic_get(table + FREE_VECTOR / 32 * 16) >> FREE_VECTOR % 32 & 1) !=
           0;
}

static void leave(unsigned number)
{
    bool on = arch_interrupts_save();

    while (own && !is_set(LAPIC_REQUESTS))
        ;
    prof_cpu_leave();
    arch_interrupts_restore(on);
    cpus[number].has_left = true;
}

static void keep_off(unsigned number)
{
    bool on = arch_interrupts_save();

    cpus[number].is_off = true;
    while (is_kept_off)
        ;
    cpus[number].is_off = false;
    arch_interrupts_restore(on);
}

/* Once: the tick that is to come does not. */
static void spoil_timer(void)
{
    bool on = arch_interrupts_save();

    if (own)
        mask_timer();
    lapic_set(LAPIC_INITIAL_COUNT, FAR);
    is_spoilt = false;
    arch_interrupts_restore(on);
}

/* Whether this CPU's timer is disarmed, and not for the next sample only. */
static bool has_ended(void)
{
    bool on, ended;

    if (own || !stopped)
        return lapic_get(LAPIC_INITIAL_COUNT) == 0;
    on = arch_interrupts_save();
    lapic_set(LAPIC_INITIAL_COUNT, prof_lapic_arm(0)); /* as a kernel does it */
    ended = lapic_get(LAPIC_INITIAL_COUNT) == 0;
    if (ended)
        arch_timer_arm(1000); /* the kernel waits for what it has armed */
    arch_interrupts_restore(on);
    return ended;
}

static void run(void *context)
{
    unsigned number = cpu_number();
    uint32_t random = number;

    (void)context;
    if (own)
        mask_timer();
    cpus[number].timer_before = lapic_get(LAPIC_LVT_TIMER);
    cpus[number].divide_before = lapic_get(LAPIC_DIVIDE);
    while (!ends) {
        prof_cpu_poll();
        work(&random);
        cpus[number].has_ended = has_ended();
        cpus[number].rounds++;
        if (leaves && number == 1 && !cpus[number].has_left)
            leave(number);
        if (is_kept_off && number == 1)
            keep_off(number);
        if (is_spoilt && number == 1)
            spoil_timer();
    }
    cpus[number].is_as_before =
        lapic_get(LAPIC_LVT_TIMER) == cpus[number].timer_before &&
        lapic_get(LAPIC_DIVIDE) == cpus[number].divide_before &&
        !(own && (is_set(LAPIC_REQUESTS) || is_set(LAPIC_IN_SERVICE)));
    cpus[number].is_idle = true;
}

static void on_timer(void *context)
{
    (void)context;
    cpus[cpu_number()].has_fired = true;
}

static void arm_timer(void *context)
{
    static struct loop_timer timers[CPUS_MAX];

    loop_once(&timers[cpu_number()], 1000000, on_timer, context);
}

/* ---- CPU 0 */

static bool call_others(cpu_function *function)
{
    bool called = true;

    for (unsigned i = 1; i < cpu_count(); i++)
        called &= cpu_call(i, function, NULL);
    return called;
}

static struct prof_cpu_stats stats_of(unsigned number)
{
    struct prof_cpu_stats stats = {0};

    (void)prof_cpu_stats(number, &stats);
    return stats;
}

#define WAIT_FOR(first, condition)                                             \
    for (unsigned i = first; i < cpu_count(); i++)                             \
        while (!(condition)) {                                                 \
            prof_drain();                                                      \
            loop_poll();                                                       \
        }

/* Waits for so many ticks of each CPU from (first) on. */
static void await_ticks(unsigned first)
{
    uint64_t before[CPUS_MAX];

    for (unsigned i = first; i < cpu_count(); i++)
        before[i] = stats_of(i).ticks;
    WAIT_FOR(first, stats_of(i).ticks - before[i] >= TICKS)
}

static void stop(void)
{
    prof_stop();
    stopped = true;
    WAIT_FOR(1, cpus[i].has_ended)
    stopped = false;
}

/* Whether the CPUs up to (last) are not sampled while they work. */
static bool are_silent(unsigned last)
{
    uint64_t ticks[CPUS_MAX];
    uint32_t rounds[CPUS_MAX];
    bool silent = true;

    for (unsigned i = 1; i <= last; i++) {
        ticks[i] = stats_of(i).ticks;
        rounds[i] = cpus[i].rounds;
    }
    for (unsigned i = 1; i <= last; i++)
        while (cpus[i].rounds - rounds[i] < ROUNDS)
            loop_poll();
    for (unsigned i = 1; i <= last; i++)
        silent &= stats_of(i).ticks == ticks[i];
    return silent;
}

static void test_sampled(void)
{
    uint64_t a, b;
    bool accounted = true, busy = true;

    kicked = 0;
    tap_is_equal(prof_start(), 0, "sampling begins");
    tap_is_equal(kicked, (1u << cpu_count()) - 2,
                 "  on CPUs that may halt, which are kicked");
    tap_ok(call_others(run), "the others work");
    await_ticks(1);
    tap_ok(true, "each CPU has ticks");
    tap_is_equal(prof_set_rate(500), 0, "the rate changes while they come");
    await_ticks(1);
    WAIT_FOR(0, stats_of(0).ticks > 0)
    tap_ok(true, "each has more of them");
    prof_drain();
    for (unsigned i = 1; i < cpu_count(); i++) {
        struct prof_cpu_stats stats = stats_of(i);

        tap_note("CPU %u: %u ticks, %u idle", i, (unsigned)stats.ticks,
                 (unsigned)stats.idle);
        accounted &= stats.attributed + stats.idle + stats.unresolved +
                         stats.user + stats.dropped + stats.queued >=
                     2 * TICKS;
        busy &= stats.idle <= stats.ticks / 2;
    }
    tap_ok(accounted && busy, "each in an account, most of them in functions");
    a = guest_row((uintptr_t)leaf_a).samples;
    b = guest_row((uintptr_t)leaf_b).samples;
    tap_is_between((int64_t)(a * 100 / (a + b + (a + b == 0))), 58, 82,
                   "  whose shares are right");
}

static void test_stopped(void)
{
    stop();
    tap_ok(are_silent(cpu_count() - 1), "stopped, nobody is sampled");
    tap_is_equal(prof_start(), 0, "it goes on");
    await_ticks(1);
    tap_ok(true, "  on each CPU");
}

static unsigned vector(void)
{
    return own ? FREE_VECTOR : ARCH_IRQ_BASE + ARCH_IRQ_TIMER;
}

/* The kernel's timer of CPU 0 interrupts, one time after the other. */
static void await_fires(const char *name)
{
    for (uint32_t i = 0; i < FIRES; i++) {
        uint32_t before = fires;

        arch_timer_arm(1000000);
        while (fires == before)
            ;
    }
    tap_ok(true, name);
}

static void test_stopped_late(void)
{
    is_kept_off = true;
    WAIT_FOR(1, i != 1 || cpus[i].is_off)
    prof_stop();
    tap_ok(guest_handler_of(vector()) != kernel_handler,
           "stopped while a CPU has interrupts off, the gate is kept");
    if (!own)
        await_fires("  the kernel's timers of CPU 0 go on");
    is_kept_off = false;
    stop();
    prof_drain();
    tap_ok(guest_handler_of(vector()) == kernel_handler,
           "  until that CPU has ended, too");
    if (!own)
        await_fires("  they still go on");
    tap_is_equal(prof_start(), 0, "it goes on once more");
    await_ticks(1);
    tap_ok(true, "  on each CPU");
}

static void test_spoilt(void)
{
    uint32_t before = guest_stats().tick.lapic_taken_back;

    is_spoilt = true;
    WAIT_FOR(1, i != 1 || !is_spoilt)
    await_ticks(1);
    prof_drain();
    tap_ok(guest_stats().tick.lapic_taken_back > before,
           "a CPU's timer that other code has armed is taken back");
}

static void test_left(void)
{
    leaves = true;
    WAIT_FOR(1, i != 1 || (cpus[i].has_left && !stats_of(i).joined))
    tap_ok(are_silent(1), "a CPU that has left is not sampled");
    await_ticks(2);
    tap_ok(true, "  the others are");
}

static void test_timers(void)
{
    bool as_before = true;

    stop();
    ends = true;
    WAIT_FOR(1, cpus[i].is_idle)
    for (unsigned i = 1; i < cpu_count(); i++)
        as_before &= cpus[i].is_as_before;
    tap_ok(as_before, "all timers are as before");
    prof_drain();
    tap_ok(guest_handler_of(vector()) == kernel_handler, "  and the gate");
    if (own)
        return; /* and not the kernel's */
    tap_ok(call_others(arm_timer), "the kernel arms them");
    WAIT_FOR(1, cpus[i].has_fired)
    tap_ok(true, "  and they fire");
}

int service_main(void)
{
    tap_plan(own ? 20 : 24);
    kernel_handler = guest_handler_of(vector());
    test_sampled();
    test_stopped();
    test_stopped_late();
    test_spoilt();
    test_left();
    test_timers();
    return tap_end();
}
