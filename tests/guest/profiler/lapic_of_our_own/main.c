/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A local APIC's timer that the kernel leaves to the profiler: it is periodic,
 * at any rate, and varies; the kernel's own tick, the PIT's, stays as it is.
 * Whoever programs the timer is noticed. After a stop there is no tick, and the
 * registers are as before.
 */

#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/service.h>

#define APIC 0xfee00000u
#define APIC_TIMER 0x320u
#define APIC_COUNT 0x380u
#define APIC_DIVIDE 0x3e0u
#define MASKED (1u << 16)
#define FREE_VECTOR 47u /* of a line that nothing uses */

static const struct {
    uint32_t hz, divisor;
} rates[] = {{1000, 1193}, {20000, 60}, {100, 11932}, {5000, 239}};

static volatile uint32_t *at(uint32_t offset)
{
    return (volatile uint32_t *)(uintptr_t)(APIC + offset);
}

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    own.tick = (struct prof_tick){.kind = PROF_TICK_LAPIC,
                                  .lapic_vector = FREE_VECTOR};
    *at(APIC_TIMER) = MASKED | FREE_VECTOR; /* the kernel does not use it */
    return __real_prof_init(memory, bytes, &own);
}

__attribute__((noinline)) static void work(uint64_t cycles)
{
    uint64_t begin = arch_tsc();

    while (arch_tsc() - begin < cycles) {
        guest_spin(GUEST_MS / 100);
        prof_drain();
    }
}

static void test_rate(uint32_t hz, uint32_t divisor)
{
    struct prof_stats stats;
    uint64_t kernels, due;

    (void)prof_set_rate(hz);
    prof_reset();
    kernels = clock_ticks();
    due = arch_tsc();
    work(1000ull * GUEST_MS);
    kernels = clock_ticks() - kernels;
    due = guest_ticks_in(arch_tsc() - due, divisor);
    stats = guest_stats();
    tap_note("%u Hz: %u mHz, %u ticks, %u missed, %u us stolen", (unsigned)hz,
             (unsigned)prof_rate_mhz(), (unsigned)stats.ticks,
             (unsigned)stats.missed, (unsigned)(stats.stolen_cycles / 1000));
    tap_is_between((int64_t)stats.ticks, (int64_t)(due - due / 50 - 16),
                   (int64_t)(due + due / 50 + 16), "as many as the rate says");
    tap_ok(stats.missed <= 2 && stats.stolen_cycles < GUEST_MS &&
               guest_accounted(&stats) == stats.ticks && kernels > 98 &&
               kernels < 102,
           "  all accounted for, and the kernel's tick is its own");
}

static void test_taken_back(void)
{
    uint64_t ticks;

    *at(APIC_TIMER) = MASKED | FREE_VECTOR;
    work(20ull * GUEST_MS);
    tap_is_equal(guest_stats().tick.lapic_taken_back, 1, "masked: taken back");
    *at(APIC_COUNT) = 1000000000;
    ticks = guest_stats().ticks;
    work(100ull * GUEST_MS);
    tap_is_equal(guest_stats().tick.lapic_taken_back, 2,
                 "another count: taken back");
    tap_ok(guest_stats().ticks - ticks > 300, "  samples go on");
}

int service_main(void)
{
    uint32_t timer = *at(APIC_TIMER), divide = *at(APIC_DIVIDE);
    uint64_t ticks;

    tap_plan(16);
    tap_is_equal(prof_start(), 0, "the timer is taken");
    tap_ok(prof_period_varies(), "its period varies");
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        test_rate(rates[i].hz, rates[i].divisor);
    tap_ok(guest_row((uintptr_t)work).samples > 0, "samples have functions");
    test_taken_back();
    prof_stop();
    ticks = guest_stats().ticks;
    work(100ull * GUEST_MS);
    tap_is_equal((int64_t)guest_stats().ticks, (int64_t)ticks,
                 "stopped, nothing is sampled");
    tap_ok(*at(APIC_TIMER) == timer && *at(APIC_DIVIDE) == divide &&
               *at(APIC_COUNT) == 0,
           "  and the timer is as it was");
    return tap_end();
}
