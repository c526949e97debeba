/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A second with interrupts off. No tick gets through, and that must be seen:
 * they are counted as missed, the time is carried by the one sample that comes
 * when interrupts are on again, the kernel is given the ticks it is owed, and
 * sampling goes on.
 */

#include "../guest.h"
#include "../tap.h"

#include <kernel/service.h>

#define DIVISOR 1193u

/* Ticks that the kernel's clock is ahead of the TSC since (tsc), (ticks). */
static int64_t ahead(uint64_t tsc, uint64_t ticks)
{
    bool on = arch_interrupts_save();
    uint64_t cycles = arch_tsc() - tsc;

    ticks = clock_ticks() - ticks;
    arch_interrupts_restore(on);
    return (int64_t)(ticks - guest_ticks_in(cycles, CLOCK_DIVISOR));
}

/* The tick that waits comes while this function is still running. */
__attribute__((noinline)) static void dark(uint64_t cycles)
{
    uint64_t begin = arch_tsc();

    arch_interrupts_off();
    while (arch_tsc() - begin < cycles)
        ;
    __asm__ volatile("sti; nop; nop");
}

int service_main(void)
{
    uint64_t tsc, ticks;
    struct prof_stats before, after;
    struct prof_row row;

    tap_plan(8);
    guest_poll(GUEST_TSC_HZ);
    prof_reset();
    tsc = arch_tsc();
    ticks = clock_ticks();
    dark(GUEST_TSC_HZ);
    prof_drain();
    row = guest_row((uintptr_t)dark);
    after = guest_stats();
    tap_is_between((int64_t)after.missed, 997, 1000,
                   "the ticks of that second are counted as missed");
    tap_is_between((int64_t)row.samples, 1, 2,
                   "one sample of it comes, late, or one more before it");
    tap_is_between((int64_t)(row.cycles / GUEST_MS), 999, 1001,
                   "and carries its time");
    tap_is_equal((int64_t)after.pit_taken_back + after.gate_taken_back, 0,
                 "nobody is suspected of having changed anything");
    tap_is_between(ahead(tsc, ticks), -100, -95,
                   "the kernel is owed a hundred ticks");
    guest_poll(GUEST_TSC_HZ / 2);
    tap_is_between(ahead(tsc, ticks), -2, 2, "it was given them");
    before = guest_stats();
    tsc = arch_tsc();
    guest_poll(GUEST_TSC_HZ);
    tsc = arch_tsc() - tsc;
    after = guest_stats();
    tap_is_between(
        (int64_t)(after.ticks - before.ticks - guest_ticks_in(tsc, DIVISOR)),
        -1, 1, "sampling goes on");
    tap_is_equal((int64_t)(after.missed - before.missed), 0,
                 "and misses nothing more");
    return tap_end();
}
