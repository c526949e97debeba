/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A PIT that ticks once in 200 us at most, whatever it is programmed to, as
 * KVM's: a handler before the profiler's lets no tick through that comes
 * sooner. That must be noticed within a second, said in one line, and nothing
 * be stolen or missed; and the kernel must have its ticks.
 */

#include "guest/entry.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <string.h>

#define FLOOR_CYCLES (GUEST_TSC_HZ / 5000)
#define PIC 0x20
#define EOI 0x20

static uintptr_t parasite;
static uint64_t passed_tsc;
static uint32_t held; /* ticks that came too soon */
static unsigned lines;

void __wrap_prof_port_write(const char *text, size_t bytes)
{
    lines += bytes > 19 && memcmp(text, "prof: the PIT ticks", 19) == 0;
    __real_prof_port_write(text, bytes);
}

HANDLER static void let_through(uintptr_t *pushed)
{
    uint64_t now = arch_tsc();

    if (now - passed_tsc < FLOOR_CYCLES) {
        held++;
        arch_out8(PIC, EOI);
        return;
    }
    passed_tsc = now;
    pushed[PUSHED_NEXT] = parasite;
}

static void test_found(void)
{
    struct prof_stats stats;

    tap_is_between(prof_rate_mhz(), 19800000, 20300000,
                   "20 kHz is what the PIT is programmed to");
    guest_poll(GUEST_TSC_HZ);
    prof_drain();
    stats = guest_stats();
    tap_note("%u ticks held back, %u samples, %u missed, %u us stolen, at %u "
             "mHz",
             (unsigned)held, (unsigned)stats.ticks, (unsigned)stats.missed,
             (unsigned)(stats.stolen_cycles / (GUEST_MS / 1000)),
             (unsigned)prof_rate_mhz());
    tap_is_equal(lines, 1, "a second later one line says what it does");
    tap_is_between(prof_rate_mhz(), 2500000, 3400000,
                   "  and the rate is one that it keeps");
    tap_is_between((long long)stats.stolen_cycles, 0, GUEST_MS,
                   "  and nothing was stolen");
    tap_is_between((long long)(stats.elapsed_cycles + stats.own_cycles),
                   GUEST_TSC_HZ / 100 * 98, GUEST_TSC_HZ / 100 * 103,
                   "  and all time is in the accounts");
}

static void test_kept(void)
{
    struct prof_stats stats;
    uint64_t begin, ticks, wanted;

    prof_reset();
    held = 0;
    begin = arch_tsc();
    ticks = clock_ticks();
    guest_poll(3ull * GUEST_TSC_HZ);
    prof_drain();
    stats = guest_stats();
    wanted = (arch_tsc() - begin) / 1000 * prof_rate_mhz() / GUEST_TSC_HZ;
    tap_is_equal(held, 0, "from then on no tick comes too soon");
    tap_is_between((long long)stats.ticks, (long long)wanted - 60,
                   (long long)wanted + 60, "  and as many as the rate says");
    tap_is_between((long long)stats.missed, 0, 20, "  none is missed");
    tap_is_equal(stats.stolen_cycles, 0, "  nor is time stolen");
    tap_is_between((long long)(clock_ticks() - ticks), 297, 303,
                   "  and the kernel has its hundred ticks a second");
    tap_is_equal(lines, 1, "  nothing more is said");
    tap_ok(prof_period_varies(), "  and the period still varies");
}

int service_main(void)
{
    tap_plan(12);
    prof_start();
    parasite = guest_handler();
    guest_set_handler(guest_entry(0, let_through));
    test_found();
    test_kept();
    return tap_end();
}
