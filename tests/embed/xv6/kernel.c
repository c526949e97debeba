/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A stand-in for xv6 on a PC: as much as kits/xv6 calls of it. Three CPUs, each
 * with a GDT of its own and the same TSS selector, and with a timer of its own;
 * a common IDT. The kernel does not use the PIT. Each CPU begins in
 * scheduler(), which takes the lock of all processes all the time, with
 * interrupts off.
 *
 * Processes are in a file of their own, as in xv6: ld --wrap wraps only what is
 * called from elsewhere. CPU 0 answers requests (work.h). CPU 1 computes while
 * it holds another lock. CPU 2 has nothing to do. In the end the profiler's
 * accounts of each must add up, and the kernel must have got no NMI while they
 * were sampled.
 */

#include "types.h"

#include "defs.h"
#include "proc.h"

#include "../pc.h"

#include <stdbool.h>

static void spend(unsigned steps)
{
    while (steps-- > 0)
        __asm__ volatile("" : : : "memory");
}

#include "../cpus.h"

#define STACK_BYTES 4096u

#define SEGMENTS 6
#define SELECTOR_TSS (5 * 8) /* of all CPUs */
#define NMI_VECTOR 2
#define TIMER_VECTOR 32

/* Intel SDM vol. 3A, 11.5 */
#define APIC_TIMER 0x320
#define APIC_TIMER_COUNT 0x380
#define APIC_TIMER_DIVIDE 0x3e0
#define TIMER_PERIODIC 0x20000u
#define TIMER_BY_1 0xbu
#define TIMER_COUNTS 10000000u /* 1 GHz in QEMU: 10 ms */

void kernel_main(void);
void load_descriptors(void);
void tick(void);
extern const char tick_entry[], nmi_entry[];
extern uint64_t idt[256];

static struct cpu {
    uint64_t gdt[SEGMENTS];
    uint32_t tss[26];
    volatile bool started;
} cpus[CPUS];
static unsigned char stacks[CPUS][STACK_BYTES] __attribute__((aligned(4096)));
volatile uint nmis;
uint ticks;

int cpuid(void)
{
    return (int)apic_id();
}

void uartputc(int character)
{
    pc_put((char)character);
}

/* ---- interrupts */

/* The interrupt of a CPU's timer; tick_entry calls it. */
void tick(void)
{
    if (cpuid() == 0) {
        ticks++;
        wakeup(&ticks);
    }
    *apic(APIC_EOI) = 0;
}

static void set_gate(unsigned vector, const char *handler)
{
    uint64_t entry = (uintptr_t)handler;

    idt[vector] =
        (entry & 0xffff0000) << 32 | 0x8e0000080000 | (entry & 0xffff);
}

static void start_timer(void)
{
    *apic(APIC_TIMER_DIVIDE) = TIMER_BY_1;
    *apic(APIC_TIMER) = TIMER_PERIODIC | TIMER_VECTOR;
    *apic(APIC_TIMER_COUNT) = TIMER_COUNTS;
}

/* ---- the start */

static void set_segments(struct cpu *cpu)
{
    const struct {
        uint16_t limit;
        const uint64_t *base;
    } __attribute__((packed)) table = {sizeof cpu->gdt - 1, cpu->gdt};
    uint64_t base = (uintptr_t)cpu->tss;

    cpu->gdt[1] = 0x00cf9a000000ffff;
    cpu->gdt[2] = 0x00cf92000000ffff;
    cpu->gdt[5] = (base & 0xff000000) << 32 | (uint64_t)0x89 << 40 |
                  (base & 0xffffff) << 16 | (sizeof cpu->tss - 1);
    __asm__ volatile("lgdt %0" : : "m"(table));
    __asm__ volatile("ltr %w0" : : "r"(SELECTOR_TSS) : "memory");
}

static void set_up_cpu(void)
{
    apic_enable();
    set_segments(&cpus[cpuid()]);
    start_timer();
}

void cpu_entry(void)
{
    load_descriptors();
    set_up_cpu();
    cpus[cpuid()].started = true;
    scheduler();
}

void kernel_main(void)
{
    pc_pic_start(0);
    set_gate(NMI_VECTOR, nmi_entry);
    set_gate(TIMER_VECTOR, tick_entry);
    set_up_cpu();
    for (unsigned cpu = 1; cpu < CPUS; cpu++) {
        start_cpu(cpu, (uintptr_t)(stacks[cpu] + STACK_BYTES));
        while (!cpus[cpu].started)
            ;
    }
    scheduler();
}
