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

#include "../cpus.h"

#include <prof/prof.h>
#include <stdbool.h>

#define REQUESTS 64000u
#define ROUNDS_MIN 1000u
#define CPU_SECOND 1
#define CPUS 2
#define TICK_COUNTS 1000000u /* of the APIC's clock, 1 GHz in QEMU */

/* Intel SDM vol. 3A, 11.5 */
#define APIC_TIMER 0x320
#define APIC_TIMER_COUNT 0x380
#define APIC_TIMER_DIVIDE 0x3e0
#define TIMER_PERIODIC 0x20000u
#define TIMER_BY_1 0xbu

void kernel_main(const struct boot *boot);
void load_descriptors(void);
void tick(void);
void tick_entry(void);
extern uint64_t idt[256];

static unsigned char cpu_stack[4096] __attribute__((aligned(16)));
static volatile unsigned rounds, ticks[CPUS];
static volatile bool ended, stopped;
volatile bool started;

/* The interrupt of a CPU's timer; tick_entry calls it. */
void tick(void)
{
    ticks[apic_id()]++;
    *apic(APIC_EOI) = 0;
}

/* The TSS by which a CPU is identified, and its descriptor in the GDT that all
 * have. Nothing else is done with it (Intel SDM vol. 3A, 8.2). */
void load_tss(unsigned cpu)
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

static void tick_start(void)
{
    *apic(APIC_TIMER_DIVIDE) = TIMER_BY_1;
    *apic(APIC_TIMER) = TIMER_PERIODIC | TICK_VECTOR;
    *apic(APIC_TIMER_COUNT) = TICK_COUNTS;
    __asm__ volatile("sti");
}

static void tick_prepare(void)
{
    uint64_t entry = (uintptr_t)tick_entry;

    idt[TICK_VECTOR] =
        (entry & 0xffff0000) << 32 | 0x8e0000080000 | (entry & 0xffff);
}

static __attribute__((noinline)) void compute(void)
{
    spend(100);
}

void wake_cpu(unsigned cpu)
{
    start_cpu(cpu, (uintptr_t)(cpu_stack + sizeof cpu_stack));
}

static __attribute__((noinline)) void cpu_main(void)
{
    apic_enable();
    if (profiler_join() != 0)
        pc_exit(3);
    tick_start();
    for (; !ended; rounds++)
        compute();
    __asm__ volatile("cli");
    stopped = true;
    for (;;)
        __asm__ volatile("hlt");
}

void cpu_entry(void)
{
    load_descriptors();
    cpu_main();
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
    apic_enable();
    tick_prepare();
    if (profiler_start((const char *)boot->line) != 0)
        pc_exit(1);
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
