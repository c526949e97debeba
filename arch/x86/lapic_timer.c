/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The local APIC's timer: TSC-deadline or one-shot.
 *
 * A one-shot timer's frequency is not known beforehand: it is the bus's on old
 * CPUs, a crystal's on newer ones, 1 GHz in QEMU. So the counter is read twice,
 * each time between two reads of the TSC, of which the closest pair counts: a
 * host may suspend the guest between them. A TSC-deadline timer compares with
 * the TSC itself.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 3, Advanced Programmable Interrupt Controller.
 */

#include "cpu_bits.h"

#include <arch/cpu.h>
#include <arch/timer.h>
#include <arch/trap.h>

#define CPUID_EDX_MSR (1u << 5)
#define CPUID_EDX_APIC (1u << 9)
#define MSR_APIC_BASE 0x1bu
#define MSR_TSC_DEADLINE 0x6e0u
#define MSR_X2APIC 0x800u /* of the register at 0; each has 16 bytes */
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
#define LVT_TSC_DEADLINE (2u << 17)
#define INITIAL_COUNT 0x380u
#define CURRENT_COUNT 0x390u
#define DIVIDE 0x3e0u
#define DIVIDE_BY_1 0x0bu

#define MEASURED_MS 10u
#define READS 16u
#define ATTEMPTS 8u
#define SCALE_BITS 24 /* counts of a nanosecond: a billion of them fits */

static enum {
    NONE,
    ONE_SHOT,
    TSC_DEADLINE,
} mode;
static uintptr_t registers;    /* 0 = they are MSRs */
static uint64_t scale;         /* counts in 2^SCALE_BITS nanoseconds */
static void (*on_fired)(void); /* in each interrupt */

static uint32_t get(uint32_t offset)
{
    if (registers != 0)
        return cpu_mapped(registers + offset);
    return (uint32_t)cpu_msr(MSR_X2APIC + offset / 16);
}

static void set(uint32_t offset, uint32_t value)
{
    if (registers != 0)
        cpu_set_mapped(registers + offset, value);
    else
        cpu_set_msr(MSR_X2APIC + offset / 16, value);
}

static void on_timer(void)
{
    set(EOI, 0);
    on_fired();
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
        const uint32_t count = get(CURRENT_COUNT);
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

    set(INITIAL_COUNT, UINT32_MAX);
    first = read_both();
    while (arch_tsc() - first.tsc < tsc_hz / 1000 * MEASURED_MS)
        arch_pause();
    last = read_both();
    set(INITIAL_COUNT, 0);
    if (last.count == 0 || last.count >= first.count)
        return 0;
    return (uint64_t)(first.count - last.count) * tsc_hz /
           (last.tsc - first.tsc);
}

/* The APIC may be off, as at reset, or moved. */
static bool find_registers(void)
{
    const uint32_t needed = CPUID_EDX_MSR | CPUID_EDX_APIC;
    uint64_t base;

    if ((cpu_leaf(CPUID_FEATURES).d & needed) != needed)
        return false;
    base = cpu_msr(MSR_APIC_BASE);
    if ((base & APIC_BASE_ENABLE) != 0 && (base & APIC_BASE_X2APIC) != 0) {
        registers = 0;
        return true;
    }
    if ((base & APIC_BASE_ADDRESS) > UINT32_MAX)
        return false;
    cpu_set_msr(MSR_APIC_BASE, base | APIC_BASE_ENABLE);
    registers = (uintptr_t)(base & APIC_BASE_ADDRESS);
    return true;
}

static uint64_t measured_hz(uint64_t tsc_hz)
{
    uint64_t hz = 0;

    set(DIVIDE, DIVIDE_BY_1);
    set(LVT_TIMER, LVT_MASKED | (ARCH_IRQ_BASE + ARCH_IRQ_TIMER));
    for (unsigned i = 0; i < ATTEMPTS && hz == 0; i++)
        hz = measure(tsc_hz);
    return hz;
}

/* The write to memory must come before that of the first deadline. */
static void begin_deadlines(void)
{
    set(LVT_TIMER, LVT_TSC_DEADLINE | (ARCH_IRQ_BASE + ARCH_IRQ_TIMER));
    cpu_fence();
}

bool arch_timer_start(uint64_t tsc_hz, void (*fired)(void))
{
    bool deadline = (cpu_leaf(CPUID_FEATURES).c & CPUID_ECX_TSC_DEADLINE) != 0;
    uint64_t hz;

    mode = NONE;
    if (!find_registers())
        return false;
    on_fired = fired;
    arch_irq_handle(ARCH_IRQ_TIMER, on_timer);
    arch_irq_handle(ARCH_IRQ_SPURIOUS, on_spurious);
    set(SPURIOUS, SPURIOUS_ENABLE | (ARCH_IRQ_BASE + ARCH_IRQ_SPURIOUS));
    set(TASK_PRIORITY, 0);
    set(LVT_LINT0, LVT_EXTINT); /* the PIC and NMI, as firmware leaves them */
    set(LVT_LINT1, LVT_NMI);
    hz = deadline ? tsc_hz : measured_hz(tsc_hz);
    if (hz == 0)
        return false;
    scale = (hz << SCALE_BITS) / 1000000000u;
    if (deadline)
        begin_deadlines();
    else
        set(LVT_TIMER, ARCH_IRQ_BASE + ARCH_IRQ_TIMER);
    mode = deadline ? TSC_DEADLINE : ONE_SHOT;
    return true;
}

const char *arch_timer_name(void)
{
    return mode == TSC_DEADLINE ? "local APIC, TSC deadline"
                                : "local APIC, one-shot";
}

void arch_timer_arm(uint64_t ns)
{
    uint64_t counts;

    if (ns > ARCH_TIMER_NS_MAX)
        ns = ARCH_TIMER_NS_MAX;
    counts = ns * scale >> SCALE_BITS;
    if (mode == TSC_DEADLINE) {
        cpu_set_msr(MSR_TSC_DEADLINE, arch_tsc() + counts);
    } else if (mode == ONE_SHOT) {
        if (counts > UINT32_MAX)
            counts = UINT32_MAX;
        set(INITIAL_COUNT, counts == 0 ? 1 : (uint32_t)counts);
    }
}

void arch_timer_stop(void)
{
    if (mode == TSC_DEADLINE)
        cpu_set_msr(MSR_TSC_DEADLINE, 0);
    else if (mode == ONE_SHOT)
        set(INITIAL_COUNT, 0);
    mode = NONE;
}
