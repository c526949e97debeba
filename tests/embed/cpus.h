/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_CPUS_H
#define EMBED_CPUS_H

/* Several CPUs: their local APICs, at APIC where a kernel has mapped them
 * elsewhere, and their start (cpu.asm). After work.h. */

#include <stddef.h>
#include <stdint.h>

/* Intel SDM vol. 3A, 11.4 and 11.6 */
#ifndef APIC
#define APIC 0xfee00000u
#endif
#define APIC_ID 0x20
#define APIC_EOI 0xb0
#define APIC_SPURIOUS 0xf0
#define APIC_COMMAND 0x300
#define APIC_COMMAND_CPU 0x310
#define COMMAND_FIXED 0x4000u
#define COMMAND_INIT 0x4500u
#define COMMAND_START 0x4600u

#define CPU_ROOT (CPU_PAGE + 0xff0)
#define CPU_STACK (CPU_PAGE + 0xff8)

extern const char cpu_start[], cpu_start_end[];
void cpu_entry(void); /* where another CPU begins; MUST NOT return */

static inline volatile uint32_t *apic(unsigned at)
{
    return (volatile uint32_t *)(uintptr_t)(APIC + at);
}

static inline unsigned apic_id(void)
{
    return *apic(APIC_ID) >> 24;
}

static inline void apic_enable(void)
{
    *apic(APIC_SPURIOUS) = 0x1ff;
}

static inline void apic_command(unsigned cpu, uint32_t word)
{
    *apic(APIC_COMMAND_CPU) = cpu << 24;
    *apic(APIC_COMMAND) = word;
}

/* Starts (cpu) on the stack that ends at (stack_end), in the address space of
 * the caller. The next one MUST NOT be started before it has come to
 * cpu_entry(). */
static inline void start_cpu(unsigned cpu, uintptr_t stack_end)
{
    uintptr_t root;

    __asm__ volatile("mov %%cr3, %0" : "=r"(root));
    __builtin_memcpy((void *)CPU_PAGE, cpu_start,
                     (size_t)(cpu_start_end - cpu_start));
    *(volatile uintptr_t *)CPU_ROOT = root;
    *(volatile uintptr_t *)CPU_STACK = stack_end;
    apic_command(cpu, COMMAND_INIT);
    spend(1000000);
    apic_command(cpu, COMMAND_START | CPU_PAGE >> 12);
}

#endif
