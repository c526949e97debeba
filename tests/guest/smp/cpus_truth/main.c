/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A program of which is known what its CPUs do at once. It goes round three
 * phases, of random length:
 *
 *   serial    CPU 0 executes leaf_a and leaf_b as 70 to 30, all others are
 *             halted
 *   parallel  all execute leaf_c and leaf_d as 40 to 60
 *   lock      one has taken a lock with interrupts off, and executes leaf_a and
 *             leaf_b as 70 to 30; in each round another one. All others wait
 *             for it in lock_take(), but for the last of more than two: that
 *             has nothing to do with it, and executes leaf_c and leaf_d, with
 *             interrupts off as well
 *
 * A phase begins when all CPUs have come to it, and ends by the clock; what is
 * between them is in await(). So how the host runs the CPUs changes neither
 * what they do at once nor the shares of the leaves. In the end it prints how
 * long each phase was, and what the profiler has counted (tests/truth/cpus.py).
 *
 * Nobody pauses: for each pause QEMU takes a lock of all CPUs and devices, and
 * with dozens of CPUs the PIT would not get it for seconds.
 */

#include "../../../../services/split/leaf.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <prof/cpus.h>
#include <prof/prof.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MIN 300u /* of each CPU */
#define LEAST_MS 150u    /* of a phase */
#define SPREAD_MASK_MS 127u
#define HALT_MS 2u /* until the others are halted, if the host runs them */
#define PART 10u   /* of the TSC that a time is: 32 bits are read as one */

enum phase { SERIAL, PARALLEL, LOCK, PHASES };

static const char *const names[PHASES] = {"serial", "parallel", "lock"};

/* Written by CPU 0 before the others are called, and (begun) last. */
static volatile uint32_t until;
static volatile bool begun;
static unsigned holder;

static unsigned rounds_least = 16; /* truth.rounds=N */

static volatile unsigned arrived, left;
static volatile unsigned lock;

bool service_option(const char *key, const char *value)
{
    rounds_least = (unsigned)atoi(value);
    return strcmp(key, "truth.rounds") == 0;
}

static uint32_t now(void)
{
    return (uint32_t)(arch_tsc() >> PART);
}

static bool is_over(void)
{
    return (int32_t)(now() - until) >= 0;
}

static void add_one(volatile unsigned *to)
{
    __atomic_fetch_add(to, 1, __ATOMIC_SEQ_CST);
}

/* ---- what the CPUs do */

/* Of varying length, so that samples do not keep step with it. */
static uint32_t units(void)
{
    static uint32_t random[64];
    uint32_t *one = &random[cpu_number() % 64];

    *one = *one * 1664525u + 1013904223u;
    return 256 + (*one >> 16 & 255);
}

/* Part of its caller, as stacks show it. */
__attribute__((always_inline)) static inline void do_70_to_30(void)
{
    uint32_t length = units();

    leaf_a(SPLIT_TURNS(length * 7));
    leaf_b(SPLIT_TURNS(length * 3));
}

__attribute__((always_inline)) static inline void do_40_to_60(void)
{
    uint32_t length = units();

    leaf_c(SPLIT_TURNS(length * 4));
    leaf_d(SPLIT_TURNS(length * 6));
}

__attribute__((noinline)) static void serial(void)
{
    while (!is_over()) {
        do_70_to_30();
        loop_poll();
    }
}

__attribute__((noinline)) static void parallel(void)
{
    while (!is_over()) {
        do_40_to_60();
        if (cpu_number() == 0)
            loop_poll();
    }
}

__attribute__((noinline)) static void bystander(void)
{
    arch_interrupts_off();
    while (!is_over())
        do_40_to_60();
    arch_interrupts_on();
}

__attribute__((noinline)) static void hold(void)
{
    arch_interrupts_off();
    while (!is_over())
        do_70_to_30();
    arch_interrupts_on();
}

__attribute__((noinline)) static void lock_take(void)
{
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
        while (lock != 0)
            ;
}

static void lock_free(void)
{
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

/* ---- from phase to phase */

/* This CPU has come to a phase. */
__attribute__((noinline)) static void arrive(void)
{
    add_one(&arrived);
    while (!begun)
        ;
}

static void run_parallel(void *context)
{
    (void)context;
    arrive();
    parallel();
    add_one(&left);
}

static void run_bystander(void *context)
{
    (void)context;
    arrive();
    bystander();
    add_one(&left);
}

static void run_holder(void *context)
{
    (void)context;
    lock_take();
    arrive();
    hold();
    lock_free();
    add_one(&left);
}

static void run_waiter(void *context)
{
    (void)context;
    arrive();
    lock_take();
    lock_free();
    add_one(&left);
}

/* CPU 0 waits for (count) of the others. */
__attribute__((noinline)) static void await(const volatile unsigned *what,
                                            unsigned count)
{
    while (*what < count)
        loop_poll();
}

__attribute__((noinline)) static void let_others_halt(void)
{
    uint64_t begin = clock_ns();

    while (clock_ns() - begin < HALT_MS * NS_PER_MS)
        loop_poll();
}

static void call(unsigned cpu, cpu_function *function)
{
    if (!cpu_call(cpu, function, NULL))
        console_line("truth: no memory for a message");
}

static struct {
    uint64_t planned, lasted; /* us */
} times[PHASES];
static uint64_t begin_tsc;

static uint64_t us_since(uint64_t tsc)
{
    return (arch_tsc() - tsc) * 1000 / (clock_tsc_hz() / 1000);
}

/* All have come: (phase) begins, which takes a while. */
static void begin(enum phase phase)
{
    static uint32_t random = 1;
    uint64_t ms;

    random = random * 1664525u + 1013904223u;
    ms = LEAST_MS + (random >> 16 & SPREAD_MASK_MS);
    times[phase].planned += ms * 1000;
    begin_tsc = arch_tsc();
    until = now() + (uint32_t)(clock_tsc_hz() / 1000 * ms >> PART);
    begun = true;
}

static void be_serial(unsigned others)
{
    (void)others;
    let_others_halt();
    begin(SERIAL);
    serial();
}

static void be_parallel(unsigned others)
{
    for (unsigned i = 1; i <= others; i++)
        call(i, run_parallel);
    await(&arrived, others);
    begin(PARALLEL);
    parallel();
    await(&left, others);
}

static bool is_bystander(unsigned cpu)
{
    return cpu_count() > 2 && cpu == cpu_count() - 1;
}

static void be_locked(unsigned others)
{
    if (holder == 0) {
        lock_take();
    } else {
        call(holder, run_holder);
        await(&arrived, 1);
    }
    for (unsigned i = 1; i <= others; i++)
        if (i != holder)
            call(i, is_bystander(i) ? run_bystander : run_waiter);
    await(&arrived, others);
    begin(LOCK);
    if (holder == 0) {
        hold();
    } else {
        lock_take();
    }
    lock_free();
    await(&left, others);
    holder = (holder + 1) % (cpu_count() - (cpu_count() > 2));
}

/* ---- the run */

static void do_phase(enum phase phase)
{
    static void (*const be[PHASES])(unsigned) = {be_serial, be_parallel,
                                                 be_locked};

    arrived = left = 0;
    begun = false;
    be[phase](cpu_count() - 1);
    times[phase].lasted += us_since(begin_tsc);
}

static bool has_enough(void)
{
    for (unsigned i = 0; i < cpu_count(); i++) {
        struct prof_cpu_stats stats;

        if (!prof_cpu_stats(i, &stats) || stats.ticks < SAMPLES_MIN)
            return false;
    }
    return true;
}

int service_main(void)
{
    unsigned rounds = 0;
    uint64_t tsc = arch_tsc();

    if (prof_start() != 0)
        return 1;
    while (rounds < rounds_least || !has_enough()) {
        for (enum phase phase = 0; phase < PHASES; phase++)
            do_phase(phase);
        rounds++;
    }
    prof_stop();
    console_line("truth: %u rounds in %llu us", rounds,
                 (unsigned long long)us_since(tsc));
    for (enum phase phase = 0; phase < PHASES; phase++)
        console_line("truth: %s %llu us, and %llu us until all had left it",
                     names[phase], (unsigned long long)times[phase].planned,
                     (unsigned long long)times[phase].lasted);
    prof_drain();
    for (unsigned i = 0; i < cpu_count(); i++) {
        struct prof_cpu_stats stats;

        (void)prof_cpu_stats(i, &stats);
        console_line("truth: CPU %u: %llu ticks, %llu missed, %llu dropped, "
                     "%llu queued",
                     i, (unsigned long long)stats.ticks,
                     (unsigned long long)stats.missed,
                     (unsigned long long)stats.dropped,
                     (unsigned long long)stats.queued);
    }
    return 0;
}
