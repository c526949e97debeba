/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Its interrupt is the local APIC's timer, in the gate of a line that nothing
 * else uses, so that neither the PIT nor the PIC knows of it.
 *
 * Source: Intel SDM vol. 3, chapter "Advanced Programmable Interrupt
 * Controller". QEMU's counts nanoseconds.
 */

#include "thief.h"

#include "guest/guest.h"

#include <arch/trap.h>
#include <kernel/console.h>

#define FIRST_CYCLES (5 * GUEST_MS) /* so that there are ticks before */

#define LINE 5u
#define SPURIOUS_LINE 15u

#define APIC 0xfee00000u
#define APIC_EOI 0x0b0u
#define APIC_SPURIOUS 0x0f0u
#define APIC_SPURIOUS_ENABLE 0x100u
#define APIC_LVT_TIMER 0x320u
#define APIC_LVT_MASKED 0x10000u
#define APIC_INITIAL_COUNT 0x380u
#define APIC_DIVIDE 0x3e0u
#define APIC_DIVIDE_BY_1 0x0bu

static uint32_t percent_taken;
static uint32_t slices;
static uint64_t cycles_taken;

static void apic_write(uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)(APIC + offset) = value;
}

/* Evenly in [0, limit). */
static uint32_t below(uint32_t limit)
{
    static uint32_t random = 1;

    random = random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(random >> 8) * limit >> 24);
}

/* From 1 to 50 ms, the short ones more often. */
static uint32_t slice_cycles(void)
{
    return (GUEST_MS + below(2 * GUEST_MS + GUEST_MS / 8)) << below(5);
}

/* The next slice comes when its share of the time is due that (cycles) were. */
static void wait_for(uint32_t cycles)
{
    uint32_t rest = cycles / percent_taken * (100 - percent_taken);

    apic_write(APIC_INITIAL_COUNT, rest / 2 + below(rest));
}

static void take(void)
{
    uint64_t begin = arch_tsc();
    uint32_t cycles = slice_cycles();

    while (arch_tsc() - begin < cycles)
        __asm__ volatile(".rept 400; nop; .endr");
    wait_for(cycles);
    apic_write(APIC_EOI, 0);
    slices++;
    cycles_taken += arch_tsc() - begin;
}

void thief_begin(uint32_t percent)
{
    percent_taken = percent;
    arch_irq_handle(LINE, take);
    apic_write(APIC_SPURIOUS,
               APIC_SPURIOUS_ENABLE | (ARCH_IRQ_BASE + SPURIOUS_LINE));
    apic_write(APIC_DIVIDE, APIC_DIVIDE_BY_1);
    apic_write(APIC_LVT_TIMER, ARCH_IRQ_BASE + LINE);
    apic_write(APIC_INITIAL_COUNT, FIRST_CYCLES);
}

void thief_end(void)
{
    apic_write(APIC_LVT_TIMER, APIC_LVT_MASKED);
    console_line("thief: %u slices, %llu ns", (unsigned)slices,
                 (unsigned long long)cycles_taken); /* at GUEST_TSC_HZ */
}
