/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A second with interrupts off. No tick gets through, and that must be seen:
 * they are counted as missed, the time is carried by the one sample that comes
 * when interrupts are on again, the kernel is given the ticks it is owed, and
 * sampling goes on. A reset is no reason to suspect anybody, though the count
 * of missed ticks then falls.
 */

#include "guest/guest.h"
#include "guest/tap.h"

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
        guest_pass();
    __asm__ volatile("sti; nop; nop");
}

/* Returns when a period has just begun, and no tick is pending. */
static void await_tick(void)
{
    uint64_t ticks = guest_stats().ticks;

    while (guest_stats().ticks == ticks)
        ;
}

/* A close look at the PIT takes longer than a sampling period; any other drain
 * of a few samples, much less. */
static void test_reset(void)
{
    await_tick();
    prof_reset();
    prof_drain();
    tap_is_between((int64_t)guest_stats().drain_cycles, 1, GUEST_MS / 2,
                   "a reset does not make the PIT suspect");
    tap_is_equal((int64_t)guest_stats().missed, 0, "and nothing is missed");
}

int service_main(void)
{
    uint64_t tsc, ticks;
    struct prof_stats before, after;
    struct prof_row row;

    tap_plan(10);
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
    tap_is_equal((int64_t)after.tick.pit_taken_back +
                     after.tick.gate_taken_back,
                 0, "no change by others is suspected");
    tap_is_between(ahead(tsc, ticks), -100, -95,
                   "the kernel is owed a hundred ticks");
    guest_poll(GUEST_TSC_HZ / 2);
    tap_is_between(ahead(tsc, ticks), -2, 2, "it was given them");
    await_tick();
    before = guest_stats();
    tsc = arch_tsc();
    guest_poll(GUEST_TSC_HZ);
    (void)guest_stats(); /* sums first what was drained, which takes ticks */
    tsc = arch_tsc() - tsc;
    after = guest_stats();
    tap_note("%u samples in %u us, %u of them missed",
             (unsigned)(after.ticks - before.ticks), (unsigned)(tsc / 1000),
             (unsigned)(after.missed - before.missed));
    tap_is_between(
        (int64_t)(after.ticks - before.ticks - guest_ticks_in(tsc, DIVISOR)),
        -1, 1, "sampling goes on");
    tap_is_equal((int64_t)(after.missed - before.missed), 0,
                 "and misses nothing more");
    test_reset();
    return tap_end();
}
