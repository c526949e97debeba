/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The local APIC's timer, one-shot.
 *
 * Its frequency is not known beforehand: it is the bus's on old CPUs, a
 * crystal's on newer ones, 1 GHz in QEMU. So the counter is read twice, each
 * time between two reads of the TSC, of which the closest pair counts: a host
 * may suspend the guest between them.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 3, Advanced Programmable Interrupt Controller.
 */

#include "cpu_bits.h"

#include <arch/cpu.h>
#include <arch/features.h>
#include <arch/timer.h>
#include <arch/trap.h>
#include <stddef.h>

#define MSR_APIC_BASE 0x1bu
#define APIC_BASE_X2APIC ((uint64_t)1 << 10)
#define APIC_BASE_ENABLE ((uint64_t)1 << 11)
#define APIC_BASE_ADDRESS 0xffffff000ull

#define TASK_PRIORITY 0x080u
#define EOI 0x0b0u
#define SPURIOUS 0x0f0u
#define SPURIOUS_ENABLE (1u << 8)
#define LVT_TIMER 0x320u
#define LVT_LINT0 0x350u
#define LVT_LINT1 0x360u
#define LVT_MASKED (1u << 16)
#define LVT_NMI (4u << 8)
#define LVT_EXTINT (7u << 8)
#define INITIAL_COUNT 0x380u
#define CURRENT_COUNT 0x390u
#define DIVIDE 0x3e0u
#define DIVIDE_BY_1 0x0bu

#define MEASURED_MS 10u
#define READS 16u
#define ATTEMPTS 8u
#define SCALE_BITS 24 /* counts of a nanosecond: a billion of them fits */

uint32_t (*arch_timer_share)(uint32_t count);

static uintptr_t registers; /* 0 = there is no timer */
static uint64_t scale;      /* counts in 2^SCALE_BITS nanoseconds */

static volatile uint32_t *at(uint32_t offset)
{
    return (volatile uint32_t *)(registers + offset);
}

static void on_timer(void)
{
    *at(EOI) = 0;
}

/* A spurious interrupt is not acknowledged. */
static void on_spurious(void)
{
}

struct reading {
    uint64_t tsc;
    uint32_t count;
};

static struct reading read_both(void)
{
    uint64_t narrowest = UINT64_MAX;
    struct reading best = {0};

    for (unsigned i = 0; i < READS; i++) {
        const uint64_t before = arch_tsc();
        const uint32_t count = *at(CURRENT_COUNT);
        const uint64_t width = arch_tsc() - before;

        if (width >= narrowest)
            continue;
        narrowest = width;
        best = (struct reading){before + width / 2, count};
    }
    return best;
}

/* Counts per second, 0: it does not count, or was read too late. */
static uint64_t measure(uint64_t tsc_hz)
{
    struct reading first, last;

    *at(INITIAL_COUNT) = UINT32_MAX;
    first = read_both();
    while (arch_tsc() - first.tsc < tsc_hz / 1000 * MEASURED_MS)
        arch_pause();
    last = read_both();
    *at(INITIAL_COUNT) = 0;
    if (last.count == 0 || last.count >= first.count)
        return 0;
    return (uint64_t)(first.count - last.count) * tsc_hz /
           (last.tsc - first.tsc);
}

/* The APIC may be off, as at reset, or moved. In x2APIC mode it is not in
 * memory. */
static uintptr_t find_registers(void)
{
    uint64_t base;

    if (!arch_cpu_has(ARCH_CPU_MSR) || !arch_cpu_has(ARCH_CPU_APIC))
        return 0;
    base = cpu_msr(MSR_APIC_BASE);
    if ((base & APIC_BASE_X2APIC) != 0 ||
        (base & APIC_BASE_ADDRESS) > UINT32_MAX)
        return 0;
    cpu_set_msr(MSR_APIC_BASE, base | APIC_BASE_ENABLE);
    return (uintptr_t)(base & APIC_BASE_ADDRESS);
}

bool arch_timer_start(uint64_t tsc_hz)
{
    uint64_t hz = 0;

    registers = find_registers();
    if (registers == 0)
        return false;
    arch_irq_handle(ARCH_IRQ_TIMER, on_timer);
    arch_irq_handle(ARCH_IRQ_SPURIOUS, on_spurious);
    *at(SPURIOUS) = SPURIOUS_ENABLE | (ARCH_IRQ_BASE + ARCH_IRQ_SPURIOUS);
    *at(TASK_PRIORITY) = 0;
    *at(LVT_LINT0) = LVT_EXTINT; /* the PIC and NMI, as firmware leaves them */
    *at(LVT_LINT1) = LVT_NMI;
    *at(DIVIDE) = DIVIDE_BY_1;
    *at(LVT_TIMER) = LVT_MASKED | (ARCH_IRQ_BASE + ARCH_IRQ_TIMER);
    for (unsigned i = 0; i < ATTEMPTS && hz == 0; i++)
        hz = measure(tsc_hz);
    if (hz == 0) {
        registers = 0;
        return false;
    }
    scale = (hz << SCALE_BITS) / 1000000000u;
    *at(LVT_TIMER) = ARCH_IRQ_BASE + ARCH_IRQ_TIMER;
    return true;
}

static void write_count(uint32_t count)
{
    bool on = arch_interrupts_save();

    if (arch_timer_share != NULL)
        count = arch_timer_share(count);
    *at(INITIAL_COUNT) = count;
    arch_interrupts_restore(on);
}

void arch_timer_arm(uint64_t ns)
{
    uint64_t counts;

    if (registers == 0)
        return;
    if (ns > ARCH_TIMER_NS_MAX)
        ns = ARCH_TIMER_NS_MAX;
    counts = ns * scale >> SCALE_BITS;
    if (counts > UINT32_MAX)
        counts = UINT32_MAX;
    write_count(counts == 0 ? 1 : (uint32_t)counts);
}
