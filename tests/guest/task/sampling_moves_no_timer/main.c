/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Four clients that sleep for 30 to 130 us and compute in between: 3,000 units
 * of work. A sample that ends a halt must not end the wait in it, or whoever
 * profiles such a program sees another one. So it takes the same time whether
 * it is sampled or not, but for what the profiler itself takes: with QEMU
 * counting instructions, of which one takes 1 ns.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <kernel/task.h>

#define CLIENTS 4
#define UNITS 3000u
#define SLEEP_NS_MIN 30000u
#define SLEEP_NS_MAX 130000u
#define WORK_CYCLES_MAX 20000u
#define PERCENT 1

static unsigned units;

static uint32_t next_below(uint32_t *dither, uint32_t most)
{
    *dither = *dither * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*dither * most >> 32);
}

/* What it computes is counted in steps, not in time. */
static __attribute__((noinline)) void compute(uint32_t cycles)
{
    for (uint32_t i = 0; i < cycles / 2; i++)
        __asm__ volatile("");
}

/* Each has numbers of its own, so that their order does not matter. */
static uintptr_t client(void *seed)
{
    uint32_t dither = (uint32_t)(uintptr_t)seed;

    for (unsigned i = 0; i < UNITS / CLIENTS; i++) {
        uint32_t sleep_ns =
            SLEEP_NS_MIN + next_below(&dither, SLEEP_NS_MAX - SLEEP_NS_MIN);

        task_await(promise_sleep(sleep_ns));
        compute(next_below(&dither, WORK_CYCLES_MAX));
        units++;
    }
    return 0;
}

/* Guest time of all units, in ns. */
static int64_t run(void)
{
    struct promise *clients[CLIENTS];
    uintptr_t values[CLIENTS];
    uint64_t begin = arch_tsc();

    units = 0;
    for (unsigned i = 0; i < CLIENTS; i++)
        clients[i] = task_start("client", client, (void *)(uintptr_t)(i + 1));
    task_await(promise_join(clients, CLIENTS, values));
    return (int64_t)(arch_tsc() - begin);
}

static void test_sampled(uint32_t hz, int64_t alone, const char *what)
{
    struct prof_stats stats;
    int64_t sampled, own;

    (void)prof_set_rate(hz);
    prof_reset();
    (void)prof_start();
    sampled = run();
    prof_stop();
    prof_drain();
    stats = guest_stats();
    own = (int64_t)(stats.interrupt_cycles + stats.drain_cycles);
    tap_note("%u Hz: %d us instead of %d us, %d us of them the profiler's, "
             "%u samples",
             (unsigned)hz, (int)(sampled / 1000), (int)(alone / 1000),
             (int)(own / 1000), (unsigned)stats.ticks);
    tap_ok(stats.ticks > hz / 10 * (uint64_t)alone / GUEST_TSC_HZ * 9,
           "it is sampled");
    tap_is_equal(units, UNITS, "all is done");
    tap_is_between(sampled, alone - alone * PERCENT / 100,
                   alone + alone * PERCENT / 100 + own, what);
}

/* From the call until the task goes on. */
static void test_sleep(const char *what)
{
    int64_t least = INT64_MAX, most = 0;
    uint32_t dither = 1;

    for (int i = 0; i < 100; i++) {
        uint64_t begin = arch_tsc();
        int64_t took;

        task_await(promise_sleep(20000));
        took = (int64_t)(arch_tsc() - begin);
        least = took < least ? took : least;
        most = took > most ? took : most;
        compute(next_below(&dither, WORK_CYCLES_MAX));
    }
    tap_note("20 us take %d to %d ns", (int)least, (int)most);
    tap_ok(least >= 20000 && most <= 40000, what);
}

int service_main(void)
{
    int64_t alone;

    tap_plan(9);
    test_sleep("a sleep of 20 us takes 20 to 40 us");
    alone = run();
    tap_is_equal(units, UNITS, "the program runs by itself");
    test_sampled(1000, alone, "sampled at 1 kHz it takes as long");
    test_sampled(10000, alone, "sampled at 10 kHz it takes as long");
    (void)prof_set_rate(1000);
    (void)prof_start();
    test_sleep("and so does a sleep of 20 us while samples are taken");
    return tap_end();
}
