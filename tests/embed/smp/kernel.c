/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A kernel on two CPUs: 32 bits, a TSS for each, and a tick from each one's
 * local APIC. The first CPU answers requests in a loop (work.h); the second one
 * computes something else. Both are sampled.
 *
 * Each CPU counts its ticks. In the end there must be as many in the profiler's
 * account of it.
 */

#include "kernel.h"

#include "../work.h"

#include <prof/prof.h>
#include <stdbool.h>

#define REQUESTS 64000u
#define ROUNDS_MIN 1000u
#define CPU_SECOND 1
#define CPUS 2
#define TICK_COUNTS 1000000u /* of the APIC's clock, 1 GHz in QEMU */

/* Intel SDM vol. 3A, 11.4 and 11.6; 82093AA, 3.2 */
#define APIC 0xfee00000u
#define APIC_ID 0x20
#define APIC_EOI 0xb0
#define APIC_SPURIOUS 0xf0
#define APIC_COMMAND 0x300
#define APIC_COMMAND_CPU 0x310
#define APIC_TIMER 0x320
#define APIC_TIMER_COUNT 0x380
#define APIC_TIMER_DIVIDE 0x3e0
#define TIMER_PERIODIC 0x20000u
#define TIMER_BY_1 0xbu
#define COMMAND_INIT 0x4500u
#define COMMAND_START 0x4600u

void kernel_main(const struct boot *boot);
void cpu_main(void);
void tick(void);
void tick_entry(void);
extern uint64_t idt[256];
extern const char cpu_start[], cpu_start_end[];
extern unsigned char *cpu_stack_end;

static unsigned char cpu_stack[4096] __attribute__((aligned(16)));
unsigned char *cpu_stack_end = cpu_stack + sizeof cpu_stack;
static volatile unsigned rounds, ticks[CPUS];
static volatile bool started, ended, stopped;

static volatile uint32_t *at(uint32_t address)
{
    return (volatile uint32_t *)address;
}

/* The interrupt of a CPU's timer; tick_entry calls it. */
void tick(void)
{
    ticks[*at(APIC + APIC_ID) >> 24]++;
    *at(APIC + APIC_EOI) = 0;
}

/* The TSS by which a CPU is identified, and its descriptor in the GDT that all
 * have. Nothing else is done with it (Intel SDM vol. 3A, 8.2). */
static void load_tss(unsigned cpu)
{
    static uint32_t tss[CPUS][26];
    static uint64_t gdt[3 + CPUS] = {0, 0x00cf9a000000ffff, 0x00cf92000000ffff};
    const struct {
        uint16_t limit;
        const uint64_t *base;
    } __attribute__((packed)) table = {sizeof gdt - 1, gdt};
    uint64_t base = (uintptr_t)tss[cpu];

    gdt[3 + cpu] = (base & 0xff000000) << 32 | (uint64_t)0x89 << 40 |
                   (base & 0xffffff) << 16 | (sizeof tss[cpu] - 1);
    __asm__ volatile("lgdt %0" : : "m"(table));
    __asm__ volatile("ltr %w0" : : "r"((3 + cpu) * 8) : "memory");
}

static void apic_start(void)
{
    *at(APIC + APIC_SPURIOUS) = 0x1ff;
}

static void tick_start(void)
{
    *at(APIC + APIC_TIMER_DIVIDE) = TIMER_BY_1;
    *at(APIC + APIC_TIMER) = TIMER_PERIODIC | TICK_VECTOR;
    *at(APIC + APIC_TIMER_COUNT) = TICK_COUNTS;
    __asm__ volatile("sti");
}

static void tick_prepare(void)
{
    uint64_t entry = (uintptr_t)tick_entry;

    idt[TICK_VECTOR] =
        (entry & 0xffff0000) << 32 | 0x8e0000080000 | (entry & 0xffff);
}

static void command(unsigned cpu, uint32_t word)
{
    *at(APIC + APIC_COMMAND_CPU) = cpu << 24;
    *at(APIC + APIC_COMMAND) = word;
}

/* Starts (cpu) at cpu_start, which is copied to CPU_PAGE. */
static void start_cpu(unsigned cpu)
{
    __builtin_memcpy((void *)CPU_PAGE, cpu_start,
                     (size_t)(cpu_start_end - cpu_start));
    command(cpu, COMMAND_INIT);
    spend(1000000);
    command(cpu, COMMAND_START | CPU_PAGE >> 12);
}

static __attribute__((noinline)) void compute(void)
{
    spend(100);
}

void cpu_main(void)
{
    load_tss(CPU_SECOND);
    apic_start();
    if (profiler_join(CPU_SECOND) != 0)
        pc_exit(3);
    started = true;
    tick_start();
    for (; !ended; rounds++)
        compute();
    __asm__ volatile("cli");
    stopped = true;
    for (;;)
        __asm__ volatile("hlt");
}

/* Whether all of a CPU's ticks are in its account. */
static bool has_all_ticks(unsigned cpu)
{
    struct prof_cpu_stats stats;

    return prof_cpu_stats(cpu, &stats) && stats.joined && ticks[cpu] != 0 &&
           stats.ticks == ticks[cpu];
}

void kernel_main(const struct boot *boot)
{
    pc_pic_start(0);
    load_tss(0);
    apic_start();
    tick_prepare();
    if (profiler_start((const char *)boot->line) != 0)
        pc_exit(1);
    start_cpu(CPU_SECOND);
    while (!started)
        prof_cpu_answer();
    tick_start();
    for (unsigned i = 0; i < REQUESTS; i++) {
        answer();
        prof_poll();
    }
    for (ended = true; !stopped;)
        ;
    __asm__ volatile("cli");
    if (rounds < ROUNDS_MIN)
        pc_exit(2);
    prof_report();
    (void)prof_option("prof.report=folded");
    prof_report();
    if (!has_all_ticks(0) || !has_all_ticks(CPU_SECOND))
        pc_exit(4);
    pc_exit(0);
}
