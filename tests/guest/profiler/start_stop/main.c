/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Starting and stopping, once too often, after an overflow, and with rates
 * that make no sense. After a stop gate and PIT must be the kernel's again,
 * and the time between a stop and a start must not be accounted.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>

#define TICK_CYCLES ((uint64_t)CLOCK_TICK_NS)

static uintptr_t kernels_handler;

/* Ticks of the kernel's in (cycles) from now. */
static int64_t kernel_ticks_in(uint64_t cycles)
{
    uint64_t before = clock_ticks();

    guest_poll(cycles);
    return (int64_t)(clock_ticks() - before);
}

/* Samples in (cycles) from now; the last drain may take longer than that. */
static int64_t samples_in(uint64_t cycles)
{
    uint64_t before = guest_stats().ticks;
    uint64_t begin = arch_tsc();
    uint64_t samples;

    guest_poll(cycles);
    samples = guest_stats().ticks - before;
    begin = arch_tsc() - begin;
    return (int64_t)((samples * cycles + begin / 2) / begin);
}

static void test_is_kernels(const char *what)
{
    tap_ok(guest_handler() == kernels_handler && !prof_running(), what);
    tap_is_between(kernel_ticks_in(50 * TICK_CYCLES), 49, 51,
                   "  the kernel ticks at its own rate");
    tap_is_equal(samples_in(GUEST_TSC_HZ / 2), 0, "  nothing is sampled");
}

static void test_twice(void)
{
    uintptr_t handler;

    tap_is_equal(prof_start(), 0, "started");
    handler = guest_handler();
    tap_ok(handler != kernels_handler && prof_running(), "the gate is taken");
    tap_is_between(samples_in(GUEST_TSC_HZ), 999, 1001,
                   "1000 samples a second");
    tap_is_equal(prof_start(), 0, "started twice");
    tap_ok(guest_handler() == handler, "  the gate is as before");
    tap_is_between(samples_in(GUEST_TSC_HZ), 999, 1001,
                   "  1000 samples a second");
    tap_is_between(kernel_ticks_in(100 * TICK_CYCLES), 99, 101,
                   "  the kernel ticks at its own rate");
    prof_stop();
    test_is_kernels("stopped: gate and PIT are the kernel's");
    prof_stop();
    test_is_kernels("stopped twice: the same");
}

/* Also with several starts before the next drain. */
static void test_pauses(void)
{
    struct prof_stats stats;
    uint64_t begin, elapsed = 0;

    prof_reset();
    for (int i = 0; i < 10; i++) {
        prof_start();
        begin = arch_tsc();
        guest_spin(100 * GUEST_MS);
        prof_stop();
        elapsed += arch_tsc() - begin;
        guest_spin(100 * GUEST_MS);
    }
    prof_drain();
    stats = guest_stats();
    tap_note("%u ms of %u ms while running, %u missed",
             (unsigned)(stats.elapsed_cycles / GUEST_MS),
             (unsigned)(elapsed / GUEST_MS), (unsigned)stats.missed);
    tap_is_between((int64_t)(stats.elapsed_cycles / GUEST_MS),
                   (int64_t)(elapsed / GUEST_MS) - 150,
                   (int64_t)(elapsed / GUEST_MS),
                   "the time between stop and start is not accounted");
    tap_is_equal((int64_t)stats.missed, 0, "and no tick was due in it");
}

/* One second undrained at 10 kHz, stopped, and one second drained. */
static void test_overflow(void)
{
    struct prof_stats stats, after;
    uint64_t begin, cycles;
    bool on;

    prof_set_rate(10000);
    prof_reset();
    begin = arch_tsc();
    prof_start();
    guest_spin(GUEST_TSC_HZ);
    prof_stop();
    cycles = arch_tsc() - begin;
    stats = guest_stats();
    tap_ok(stats.overflowed > 0, "the vector overflows");
    tap_is_between((int64_t)(guest_ticks_in(cycles, 119) - stats.ticks), 0, 110,
                   "stopped then: all is there but for the last tick's rest");
    prof_start();
    begin = arch_tsc();
    guest_poll(GUEST_TSC_HZ);
    on = arch_interrupts_save(); /* no tick while they are counted */
    cycles = arch_tsc() - begin;
    prof_drain();
    after = guest_stats();
    arch_interrupts_restore(on);
    tap_is_between(
        (int64_t)(after.ticks - stats.ticks - guest_ticks_in(cycles, 119)), -1,
        1, "restarted: every tick is there");
    stats = guest_stats();
    tap_note("%u queued, %u dropped, %u missed", (unsigned)stats.queued,
             (unsigned)stats.dropped, (unsigned)stats.missed);
    tap_ok(guest_accounted(&stats) == stats.ticks && stats.missed == 0,
           "and each is in one account, and none is missed");
    prof_stop();
}

static void test_reset(void)
{
    struct prof_stats stats;
    bool on;

    prof_start();
    guest_spin(GUEST_TSC_HZ / 2);
    on = arch_interrupts_save();
    prof_reset();
    stats = guest_stats();
    arch_interrupts_restore(on);
    tap_ok(stats.ticks == 0 && stats.elapsed_cycles == 0 &&
               stats.addresses == 0 && stats.functions == 0,
           "after a reset nothing is there");
    tap_is_between(samples_in(GUEST_TSC_HZ), 10020, 10030,
                   "and sampling goes on");
    prof_stop();
}

/* (hz) asked for, 0.001 Hz in force, samples that come in a second. */
static void test_rate(uint32_t hz, int64_t mhz, const char *what)
{
    tap_is_equal(prof_set_rate(hz), 0, what);
    tap_is_equal(prof_rate_mhz(), mhz, "  that is the rate in force");
    prof_reset();
    tap_is_between(samples_in(GUEST_TSC_HZ), mhz / 1000 - 2, mhz / 1000 + 2,
                   "  and so many samples come");
    tap_is_equal((int64_t)guest_stats().missed, 0, "  and none is missed");
}

static void test_rates(void)
{
    prof_start();
    test_rate(1000, 1000152, "1000 Hz");
    tap_is_equal(prof_set_rate(0), PROF_ERATE, "0 Hz is refused");
    tap_is_equal(prof_rate_mhz(), 1000152, "  and the rate is as before");
    test_rate(1, 99998, "1 Hz is raised to the kernel's tick");
    test_rate(10000000, 20223423, "10 MHz is lowered to 20 kHz");
    test_rate(UINT32_MAX, 20223423, "4 GHz is lowered to 20 kHz");
    test_rate(250, 249985, "250 Hz, slower while running");
    prof_stop();
    test_is_kernels("stopped in the end");
}

int service_main(void)
{
    tap_plan(49);
    kernels_handler = guest_handler();
    test_is_kernels("not started: all is the kernel's");
    test_twice();
    test_pauses();
    test_overflow();
    test_reset();
    test_rates();
    return tap_end();
}
