/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A stand-in for LK on a PC of 64 bits: as much as kits/lk calls of it. Three
 * CPUs, which identify themselves by their TSS selectors; all memory, and with
 * it the APICs, mapped at KERNEL_ASPACE_BASE, where stacks are; threads, which
 * a CPU's loop switches to between two pieces of its work. The thread of the
 * app begins on CPU 1, for LK starts it on any, and the hook of the kit is
 * called by a thread of each CPU but the first.
 *
 * CPU 0 answers requests (work.h), CPU 1 computes with interrupts off, CPU 2
 * halts. In the end the profiler's accounts of each must add up.
 */

#include "kernel.h"

#define APIC (KERNEL_ASPACE_BASE + 0xfee00000)

#include "../kernel64.h"
#include "../work.h"

#include "../cpu_accounts.h"
#include "../cpus.h"

#include <app.h>
#include <kernel/thread.h>
#include <lk/init.h>
#include <platform/debug.h>
#include <prof/prof.h>

#define CPUS 3u
#define TSS_FIRST 3u   /* of the GDT's entries; a TSS has two */
#define TICKS_MIN 400u /* of each CPU */
#define STACK_BYTES 16384u

#define PAGE_PRESENT 3u /* and writable */
#define PAGE_LARGE 0x83u
#define PAGE_LARGE_BYTES (2u << 20)

struct thread {
    uintptr_t sp;
    void (*entry)(void);
    volatile int cpu; /* that it is pinned to */
    volatile bool ready;
};

struct descriptor_table {
    uint16_t limit;
    uintptr_t base;
} __attribute__((packed));

static unsigned char stacks[2 * CPUS][STACK_BYTES]
    __attribute__((aligned(4096)));
static struct cpu {
    struct thread *current;
    uintptr_t loop; /* the stack pointer of its loop meanwhile */
} cpus[CPUS];
static struct descriptor_table interrupts;
static volatile unsigned started, stopped;
static volatile bool ended;
volatile bool nmis_may_come;

/* By the selector of its TSS, nearly as in LK. QEMU's timers need the same lock
 * as an access to the APIC: with one in each turn of the loop, on a busy host,
 * they would wait for the guest's turns, and samples follow the loop. */
uint arch_curr_cpu_num(void)
{
    uintptr_t selector;

    __asm__("str %0" : "=r"(selector));
    return (uint)(selector / 8 - TSS_FIRST) / 2;
}

void platform_dputc(char c)
{
    pc_put(c);
}

void timer_interrupt(const struct interrupted *at)
{
    (void)at; /* there is none */
}

/* ---- threads */

static void app(void)
{
    the_app.entry(&the_app, NULL);
}

static void start_hook(void)
{
    the_hook.hook(the_hook.level);
}

static struct thread threads[CPUS] = {
    {.entry = app, .cpu = 1, .ready = true},
    {.entry = start_hook, .cpu = 1, .ready = true},
    {.entry = start_hook, .cpu = 2, .ready = true},
};

thread_t *get_current_thread(void)
{
    return cpus[arch_curr_cpu_num()].current;
}

void thread_set_pinned_cpu(thread_t *thread, int cpu)
{
    thread->cpu = cpu;
}

void thread_sleep(uint milliseconds)
{
    (void)milliseconds; /* until its CPU's loop comes to it */
    switch_stack(&get_current_thread()->sp, cpus[arch_curr_cpu_num()].loop);
}

static void begin_thread(void)
{
    get_current_thread()->entry();
    for (get_current_thread()->entry = NULL;;)
        thread_sleep(0);
}

/* The end of stack (number), where LK's heap is, too. CPU 0 has the boot stack
 * instead, in the image, as in LK. */
static uintptr_t stack_end(unsigned number)
{
    return (uintptr_t)stacks[number + 1] - KERNEL_BASE + KERNEL_ASPACE_BASE;
}

/* What switch_stack() switches to so that (entry) begins on that stack. */
static uintptr_t new_stack(unsigned number, void (*entry)(void))
{
    uintptr_t *end = (uintptr_t *)stack_end(number);

    end[-2] = (uintptr_t)entry;
    return (uintptr_t)(end - 8);
}

/* Each thread of CPU (number), until it sleeps. Returns whether there is one
 * that has not ended. */
static bool run_threads(unsigned number)
{
    bool any = false;

    for (unsigned i = 0; i < CPUS; i++) {
        struct thread *thread = &threads[i];

        if (thread->cpu != (int)number || !thread->ready ||
            thread->entry == NULL)
            continue;
        thread->ready = false;
        cpus[number].current = thread;
        switch_stack(&cpus[number].loop, thread->sp);
        thread->ready = true; /* also on another CPU */
        any = true;
    }
    return any;
}

/* ---- the CPUs and their work */

/* All have one TSS, and a selector each. */
static void load_tss(unsigned cpu)
{
    static uint32_t tss[26];
    static uint64_t gdt[TSS_FIRST + 2 * CPUS] = {0, 0x00209a0000000000,
                                                 0x0000920000000000};
    const struct descriptor_table table = {sizeof gdt - 1, (uintptr_t)gdt};
    uint64_t base = (uintptr_t)tss;
    uint64_t *entry = &gdt[TSS_FIRST + 2 * cpu];

    entry[0] = (base & 0xff000000) << 32 | (uint64_t)0x89 << 40 |
               (base & 0xffffff) << 16 | (sizeof tss - 1);
    entry[1] = base >> 32;
    __asm__ volatile("lgdt %0" : : "m"(table));
    __asm__ volatile("ltr %w0" : : "r"((TSS_FIRST + 2 * cpu) * 8) : "memory");
}

static __attribute__((noinline)) void compute(void)
{
    spend(5000);
}

/* CPU 0, the others having stopped. */
static void finish(void)
{
    nmis_may_come = true;
    prof_stop();
    prof_report();
    (void)prof_option("prof.report=folded");
    prof_report();
    if (!accounts_add_up(CPUS))
        pc_exit(2);
    pc_exit(0);
}

static void cpu_loop(void)
{
    unsigned cpu = arch_curr_cpu_num();

    while (!ended) {
        bool has_threads = run_threads(cpu);

        if (cpu == 0) {
            answer();
            ended = have_ticks(CPUS, TICKS_MIN);
        } else if (cpu == 1) {
            arch_disable_ints();
            compute();
            arch_enable_ints();
        } else if (!has_threads) {
            arch_idle();
        }
    }
    __atomic_fetch_add(&stopped, 1, __ATOMIC_SEQ_CST);
    while (cpu != 0)
        arch_idle();
    while (stopped != CPUS)
        ;
    finish();
}

static void set_up_cpu(unsigned cpu)
{
    apic_enable();
    load_tss(cpu);
}

void cpu_entry(void)
{
    set_up_cpu(apic_id());
    __asm__ volatile("lidt %0; sti" : : "m"(interrupts));
    started++;
    cpu_loop();
}

/* ---- the start */

/* 4 GiB, in pages of 2 MiB: start64.asm has mapped the first one, at 0, too. */
static void map_all(void)
{
    static uint64_t level2[4][512] __attribute__((aligned(4096)));
    uint64_t *level4, *level3;

    __asm__ volatile("mov %%cr3, %0" : "=r"(level4));
    level3 = (uint64_t *)(level4[511] & ~0xfffUL);
    for (uint64_t i = 0; i < 2048; i++)
        level2[i / 512][i % 512] = i * PAGE_LARGE_BYTES | PAGE_LARGE;
    for (unsigned i = 0; i < 4; i++)
        level3[i] = ((uintptr_t)level2[i] - KERNEL_BASE) | PAGE_PRESENT;
}

/* One for all CPUs; nothing but NMIs ever comes. */
static void set_interrupts(void)
{
    uintptr_t entry = (uintptr_t)nmi_entry;
    uint64_t *gate;

    start_interrupts(PC_VECTOR + PC_LINE_RTC);
    __asm__ volatile("sidt %0" : "=m"(interrupts));
    gate = (uint64_t *)interrupts.base + 4;
    gate[0] = (entry & 0xffff) | 0x8e0000080000 | (entry & 0xffff0000) << 32;
    gate[1] = entry >> 32;
}

void kernel_main(void)
{
    map_all();
    set_up_cpu(0);
    set_interrupts();
    for (unsigned i = 0; i < CPUS; i++)
        threads[i].sp = new_stack(CPUS + i, begin_thread);
    for (unsigned cpu = 1; cpu < CPUS; cpu++) {
        start_cpu(cpu, stack_end(cpu));
        while (started != cpu)
            ;
    }
    cpu_loop();
}
