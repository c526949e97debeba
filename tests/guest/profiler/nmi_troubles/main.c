/* SPDX-License-Identifier: Apache-2.0 */

/*
 * NMIs that do not come, or leave the program no time (try=):
 *
 *   silent  an HPET in legacy mode has cut the PIT off: another timer samples
 *   once    the kernel goes on to use the PIT in one-shot mode: the same
 *   slow    a sample takes longer than the period: the rate is halved until
 *           the program gets on
 */

#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/word.h"
#include "guest/wraps.h"

#include <kernel/service.h>

#define HPET 0xfed00000u
#define HPET_CONFIG 0x10u
#define HPET_ON_LEGACY 3u

/* Room for many deep stacks: a sample without callers is not slow. */
static _Alignas(16) char memory[1u << 20];

int __wrap_prof_init(void *given, size_t bytes,
                     const struct prof_config *config)
{
    (void)given;
    (void)bytes;
    return __real_prof_init(memory, sizeof memory, config);
}

static bool is_slow; /* try=slow: of instructions there are few */

__attribute__((noinline)) static void work(uint64_t cycles)
{
    uint64_t begin = arch_tsc();

    while (arch_tsc() - begin < cycles) {
        if (!is_slow)
            guest_spin(GUEST_MS / 100);
        prof_drain();
    }
}

static void expect_samples(const char *what)
{
    uint64_t ticks = guest_stats().ticks;
    struct prof_stats stats;

    work(500ull * GUEST_MS);
    stats = guest_stats();
    tap_is_between((int64_t)(stats.ticks - ticks), 470, 530, what);
    tap_ok(guest_accounted(&stats) == stats.ticks, "  all accounted for");
}

static void cut_off(void)
{
    *(volatile uint32_t *)(uintptr_t)(HPET + HPET_CONFIG) = HPET_ON_LEGACY;
}

static void test_silent(void)
{
    expect_samples("NMIs come");
    cut_off();
    work(3000ull * GUEST_MS);
    expect_samples("another timer's samples");
    prof_stop();
    tap_is_equal(prof_start(), 0, "started again");
    expect_samples("  and again");
}

static void test_once(void)
{
    expect_samples("NMIs come");
    for (int i = 0; i < 3; i++) {
        guest_program_pit(GUEST_PIT_ONCE, 1193);
        work(50ull * GUEST_MS);
    }
    tap_is_equal(guest_stats().tick.pit_taken_back, 2, "twice taken back");
    expect_samples("another timer's samples");
}

__attribute__((noinline)) static uint64_t deep(unsigned depth)
{
    if (depth == 0) {
        work(3000ull * GUEST_MS);
        return guest_stats().ticks;
    }
    return deep(depth - 1) + 1;
}

static void test_slow(void)
{
    uint32_t before = prof_rate_mhz(), slowed;
    uint64_t ticks;

    for (int i = 0; i < 3; i++)
        (void)deep(120);
    slowed = guest_stats().tick.nmi_slowed;
    tap_note("from %u to %u mHz, %u times halved", (unsigned)before,
             (unsigned)prof_rate_mhz(), (unsigned)slowed);
    tap_ok(slowed > 0 && prof_rate_mhz() <= before / 2 + 1000,
           "the rate is halved, and the program gets on");
    ticks = deep(120);
    tap_is_equal(guest_stats().tick.nmi_slowed, slowed, "  then no more");
    tap_ok(deep(120) > ticks, "  samples go on");
}

int service_main(void)
{
    is_slow = guest_is("slow");
    if (guest_is("silent"))
        tap_plan(8);
    else
        tap_plan(guest_is("once") ? 6 : 4);
    tap_is_equal(prof_start(), 0, "started");
    if (guest_is("silent"))
        test_silent();
    else if (guest_is("once"))
        test_once();
    else
        test_slow();
    return tap_end();
}
