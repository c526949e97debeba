/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A kernel whose ticks are NMIs: the I/O APIC passes the PIT's output on as
 * one, 20,000 times a second, and its handler calls prof_sample(). No part of
 * the profiler can keep them out. The vector is short, so that it overflows all
 * the time while it is drained, and each tick must be found in one account.
 */

#include "guest/entry.h"
#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/service.h>

#define DIVISOR 60u
#define RATE_MHZ 19886366u /* what the divisor comes to */
#define PERIOD (GUEST_TSC_HZ / 19886)
#define MEMORY_BYTES 8704u /* some fifty entries */
#define ROUNDS 1000u

#define NMI_VECTOR 2u
#define PIC_MASK 0x21 /* the first PIC's interrupt mask */
#define PIC_IRQ0 1    /* of its bits */
#define APIC_SELECT 0xfec00000u
#define APIC_WINDOW 0xfec00010u
#define APIC_PIN2_LOW 0x14  /* the PIT's pin */
#define APIC_PIN2_HIGH 0x15 /* destination: CPU 0 */
#define APIC_NMI 0x400      /* delivery mode; edge, not masked */
#define APIC_MASKED 0x10000

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    own.tick = (struct prof_tick){.kind = PROF_TICK_HOOK, .rate_mhz = RATE_MHZ};
    return __real_prof_init(memory, bytes < MEMORY_BYTES ? bytes : MEMORY_BYTES,
                            &own);
}

static volatile uint32_t nmi_ticks;

HANDLER static void on_nmi(uintptr_t *pushed)
{
    nmi_ticks++;
    guest_sample(pushed);
}

static void apic_write(uint32_t number, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)APIC_SELECT = number;
    *(volatile uint32_t *)(uintptr_t)APIC_WINDOW = value;
}

/* Sets the PIT's rate, masks its IRQ and sets the handler of NMIs, none of
 * which comes yet. */
static void prepare_timer(void)
{
    guest_set_gate(NMI_VECTOR, guest_entry(0, on_nmi));
    arch_out8(PIC_MASK, arch_in8(PIC_MASK) | PIC_IRQ0);
    apic_write(APIC_PIN2_HIGH, 0);
    guest_set_pit(DIVISOR);
}

/* Up to some hundred ticks, then drains in a row, in which more come. */
static void rounds(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        guest_spin(guest_random() % (200 * PERIOD));
        for (uint32_t drains = 1 + guest_random() % 4; drains != 0; drains--)
            prof_drain();
    }
}

static void test_accounts(void)
{
    struct prof_stats stats;
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        rounds(1);
        stats = guest_stats();
        wrong += guest_accounted(&stats) != stats.ticks;
    }
    tap_is_equal(wrong, 0, "each tick is in one account, at any time");
    tap_ok(stats.overflowed > stats.ticks / 10, "the vector overflowed");
    tap_note("%u ticks, %u overflowed", (unsigned)stats.ticks,
             (unsigned)stats.overflowed);
}

/* Ticks come in the middle of resets, too. */
static void test_resets(void)
{
    struct prof_stats stats;
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < ROUNDS / 4; i++) {
        rounds(1);
        prof_reset();
        guest_spin(guest_random() % (3 * PERIOD));
        stats = guest_stats();
        wrong += guest_accounted(&stats) != stats.ticks;
    }
    tap_is_equal(wrong, 0, "and after each reset");
}

int service_main(void)
{
    struct prof_stats stats;
    uint64_t begin, end;

    tap_plan(8);
    prepare_timer();
    tap_is_equal(prof_start(), 0, "started");
    begin = arch_tsc();
    apic_write(APIC_PIN2_LOW, APIC_NMI);
    test_accounts();
    test_resets();
    rounds(ROUNDS / 4);
    apic_write(APIC_PIN2_LOW, APIC_MASKED);
    end = arch_tsc();
    prof_stop();
    for (unsigned i = 0; i < 2; i++)
        prof_drain();
    stats = guest_stats();
    tap_is_between((int64_t)(nmi_ticks - guest_ticks_in(end - begin, DIVISOR)),
                   -1, 1, "the PIT's ticks are NMIs");
    tap_is_equal((int64_t)(stats.ticks + stats.forgotten), nmi_ticks,
                 "each of them is counted");
    tap_is_equal((int64_t)guest_accounted(&stats), (int64_t)stats.ticks,
                 "  in one account");
    tap_ok(stats.queued == 0 && stats.ticks > 1000, "  and drained");
    return tap_end();
}
