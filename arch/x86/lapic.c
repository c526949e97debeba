/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 3, Advanced Programmable Interrupt Controller. Signatures of hypervisors:
 * QEMU, target/i386/cpu.c; Linux, Documentation/virt/kvm/x86/cpuid.rst; the
 * leaf with frequencies: QEMU, vmware-cpuid-freq.
 */

#include "lapic.h"

#include "cpu_bits.h"
#include "cpuid.h"

#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/cpu_number.h>
#include <arch/features.h>
#include <arch/trap.h>

#define MSR_APIC_BASE 0x1bu
#define MSR_X2APIC 0x800u /* of the register at 0; each has 16 bytes */
#define APIC_BASE_X2APIC ((uint64_t)1 << 10)
#define APIC_BASE_ENABLE ((uint64_t)1 << 11)
#define APIC_BASE_ADDRESS 0xffffff000ull

#define ID 0x020u
#define ID_SHIFT 24  /* not in x2APIC mode, */
#define ID_ALL 0xffu /* nor is this: as a destination, all CPUs */
#define TASK_PRIORITY 0x080u
#define SPURIOUS 0x0f0u
#define SPURIOUS_ENABLE (1u << 8)
#define LVT_LINT0 0x350u
#define LVT_LINT1 0x360u
#define LVT_NMI (4u << 8)
#define LVT_EXTINT (7u << 8)

#define HYPERVISOR 0x40000000u
#define HYPERVISOR_HZ 0x40000010u
#define NANOSECONDS 1000000000u

static uintptr_t registers; /* 0: they are MSRs */

uint32_t lapic_get(uint32_t offset)
{
    if (registers == 0)
        return (uint32_t)cpu_msr(MSR_X2APIC + offset / 16);
    return cpu_mapped(registers + offset);
}

void lapic_set(uint32_t offset, uint32_t value)
{
    if (registers == 0)
        cpu_set_msr(MSR_X2APIC + offset / 16, value);
    else
        cpu_set_mapped(registers + offset, value);
}

/* The APIC may be off, as at reset, or moved. */
static bool find_registers(void)
{
    uint64_t base;

    if (!arch_cpu_has(ARCH_CPU_MSR) || !arch_cpu_has(ARCH_CPU_APIC))
        return false;
    base = cpu_msr(MSR_APIC_BASE);
    registers = 0;
    if ((base & APIC_BASE_ENABLE) != 0 && (base & APIC_BASE_X2APIC) != 0)
        return true;
    if ((base & APIC_BASE_ADDRESS) > UINT32_MAX)
        return false;
    cpu_set_msr(MSR_APIC_BASE, base | APIC_BASE_ENABLE);
    registers = (uintptr_t)(base & APIC_BASE_ADDRESS);
    return true;
}

/* A spurious interrupt is not acknowledged. */
static void on_spurious(void)
{
}

bool arch_apic_start(void)
{
    if (!find_registers())
        return false;
    arch_irq_handle(ARCH_IRQ_SPURIOUS, on_spurious);
    lapic_set(SPURIOUS, SPURIOUS_ENABLE | (ARCH_IRQ_BASE + ARCH_IRQ_SPURIOUS));
    lapic_set(TASK_PRIORITY, 0);
    lapic_set(LVT_LINT0,
              LVT_EXTINT); /* the PIC and NMI, as firmware leaves them */
    lapic_set(LVT_LINT1, LVT_NMI);
    return true;
}

#if ARCH_CPUS_MAX > 1

void lapic_start_further(void)
{
    const uint64_t mode =
        registers == 0 ? APIC_BASE_ENABLE | APIC_BASE_X2APIC : APIC_BASE_ENABLE;

    cpu_set_msr(MSR_APIC_BASE, cpu_msr(MSR_APIC_BASE) | APIC_BASE_ENABLE);
    cpu_set_msr(MSR_APIC_BASE, cpu_msr(MSR_APIC_BASE) | mode);
    lapic_set(SPURIOUS, SPURIOUS_ENABLE | (ARCH_IRQ_BASE + ARCH_IRQ_SPURIOUS));
    lapic_set(TASK_PRIORITY, 0);
    lapic_set(LVT_LINT0, LAPIC_LVT_MASKED); /* the PIC is CPU 0's */
    lapic_set(LVT_LINT1, LVT_NMI);
}

bool lapic_reaches(uint32_t apic)
{
    return apic < (registers == 0 ? UINT32_MAX : ID_ALL);
}

/* In memory the command is in two words, and an earlier one may still be on its
 * way. */
void lapic_send(uint32_t apic, uint32_t command)
{
    const bool on = arch_interrupts_save();

    if (registers == 0) {
        cpu_set_msr(MSR_X2APIC + LAPIC_ICR / 16,
                    (uint64_t)apic << 32 | command);
    } else {
        while ((lapic_get(LAPIC_ICR) & LAPIC_ICR_PENDING) != 0)
            arch_pause();
        lapic_set(LAPIC_ICR_HIGH, apic << ID_SHIFT);
        lapic_set(LAPIC_ICR, command);
    }
    arch_interrupts_restore(on);
}

#endif

void arch_apic_eoi(void)
{
    lapic_set(LAPIC_EOI, 0);
}

uint32_t arch_apic_id(void)
{
    return registers == 0 ? lapic_get(ID) : lapic_get(ID) >> ID_SHIFT;
}

static bool is_called(const struct cpuid_leaf *leaf, const char name[12])
{
    const uint32_t parts[] = {leaf->b, leaf->c, leaf->d};

    for (unsigned i = 0; i < 12; i++)
        if ((char)(parts[i / 4] >> i % 4 * 8) != name[i])
            return false;
    return true;
}

uint32_t arch_apic_hz(void)
{
    struct cpuid_leaf leaf;

    if (!arch_cpu_has(ARCH_CPU_HYPERVISOR))
        return 0;
    leaf = cpuid(HYPERVISOR);
    if (is_called(&leaf, "TCGTCGTCGTCG"))
        return NANOSECONDS;
    if (!is_called(&leaf, "KVMKVMKVM\0\0\0"))
        return 0;
    if (leaf.a >= HYPERVISOR_HZ && leaf.a - HYPERVISOR_HZ < 0x100) {
        leaf = cpuid(HYPERVISOR_HZ);
        if (leaf.b != 0 && leaf.b <= UINT32_MAX / 1000)
            return leaf.b * 1000;
    }
    return NANOSECONDS;
}

void arch_apic_stopwatch_start(void)
{
    lapic_set(LAPIC_DIVIDE, LAPIC_DIVIDE_BY_1);
    lapic_set(LAPIC_LVT_TIMER,
              LAPIC_LVT_MASKED | (ARCH_IRQ_BASE + ARCH_IRQ_TIMER));
    lapic_set(LAPIC_INITIAL_COUNT, UINT32_MAX);
}

uint32_t arch_apic_stopwatch(void)
{
    return UINT32_MAX - lapic_get(LAPIC_CURRENT_COUNT);
}
