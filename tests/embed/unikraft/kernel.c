/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A stand-in for Unikraft on KVM: as much as kits/unikraft calls of it, on
 * three CPUs. Each has a GDT and a TSS of its own with the same selector, and
 * 0 in TSC_AUX, as after a reset. All interrupts have a stack of their own, by
 * the TSS. The PIT is in one-shot mode, and must stay as it is. A CPU that the
 * program has started runs what others give it in an interrupt, one function at
 * a time.
 *
 * CPU 0 answers requests (work.h); CPU 1 computes, one part in ten of which
 * with interrupts off; CPU 2 is started when both have been sampled, and halts.
 * In the end the profiler's accounts of each must add up.
 */

#include "../kernel64.h"
#include "../work.h"

#include "../cpu_accounts.h"
#include "../cpus.h"

#include <prof/prof.h>
#include <stdbool.h>
#include <uk/console.h>
#include <uk/init.h>
#include <uk/intctlr.h>
#include <uk/plat/lcpu.h>

#define CPUS 3u
#define TICKS_MIN 400u /* of each CPU */
#define STACK_BYTES 16384u
#define VECTOR 32 /* of interrupt 0 */
#define IRQS 40
#define IRQ_RUN 13
#define EAGAIN 11

#define SELECTOR_TSS 24 /* of all CPUs */
#define PIT_ONE_SHOT 0x38
#define PIT_MODE 0x3e /* in its status */

#define PAGE_PRESENT 3u /* and writable */
#define PAGE_LARGE 0x83u
#define PAGE_LARGE_BYTES (2u << 20)

struct descriptor_table {
    uint16_t limit;
    uintptr_t base;
} __attribute__((packed));

static struct cpu {
    uint64_t gdt[5];
    uint32_t tss[26];
    struct ukplat_lcpu_func run;
    volatile bool started;
} cpus[CPUS];
static unsigned char stacks[CPUS][STACK_BYTES] __attribute__((aligned(4096)));
static unsigned char irq_stacks[CPUS][STACK_BYTES]
    __attribute__((aligned(4096)));
static int (*handlers[IRQS])(void *);
static uint64_t idt[256][2];
static volatile unsigned stopped;
static volatile bool ended;

extern const char irq_8[], irq_13[], irq_39[];
void irq_handle(unsigned irq);

int uk_console_out(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        pc_put(text[i]);
    return (int)bytes;
}

/* ---- interrupts */

void irq_handle(unsigned irq)
{
    if (handlers[irq] != NULL)
        (void)handlers[irq](NULL);
    *apic(APIC_EOI) = 0;
    if (irq < 16)
        pc_pic_done(irq);
}

int uk_intctlr_irq_register(unsigned irq, int (*handler)(void *), void *arg)
{
    (void)arg; /* NULL */
    handlers[irq] = handler;
    if (irq == PC_LINE_RTC) {
        pc_out8(0xa1, (uint8_t)(pc_in8(0xa1) & ~1u));
        pc_pic_unmask(2);
    }
    return 0;
}

static void set_gate(unsigned vector, const char *handler)
{
    uintptr_t entry = (uintptr_t)handler;

    idt[vector][0] =
        (entry & 0xffff) | 0x8e0100080000 | (entry & 0xffff0000) << 32;
    idt[vector][1] = entry >> 32;
}

static void set_gates(void)
{
    for (unsigned i = 0; i < 256; i++)
        set_gate(i, fault_entry);
    set_gate(VECTOR + PC_LINE_RTC, irq_8);
    set_gate(VECTOR + IRQ_RUN, irq_13);
    set_gate(VECTOR + 39, irq_39);
}

void timer_interrupt(const struct interrupted *at)
{
    (void)at; /* there is none */
}

/* ---- CPUs */

uint32_t ukplat_lcpu_count(void)
{
    return CPUS;
}

__lcpuidx ukplat_lcpu_idx(void)
{
    return apic_id();
}

int ukplat_lcpu_run(const __lcpuidx which[], unsigned *num,
                    const struct ukplat_lcpu_func *fn, unsigned long flags)
{
    (void)flags;
    for (unsigned i = 0; i < *num; i++) {
        struct cpu *cpu = &cpus[which[i]];
        void (*none)(struct __regs *, void *) = NULL;

        if (!cpu->started)
            continue;
        if (!__atomic_compare_exchange_n(&cpu->run.fn, &none, fn->fn, false,
                                         __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            return -EAGAIN;
        cpu->run.user = fn->user;
        apic_command(which[i], COMMAND_FIXED | (VECTOR + IRQ_RUN));
    }
    return 0;
}

static int on_run(void *arg)
{
    struct cpu *cpu = &cpus[ukplat_lcpu_idx()];
    struct ukplat_lcpu_func run = cpu->run;

    (void)arg;
    __atomic_store_n(&cpu->run.fn, NULL, __ATOMIC_SEQ_CST);
    run.fn(NULL, run.user);
    return 1;
}

static void set_up_cpu(unsigned number)
{
    struct cpu *cpu = &cpus[number];
    const struct descriptor_table gdt = {sizeof cpu->gdt - 1,
                                         (uintptr_t)cpu->gdt};
    const struct descriptor_table interrupts = {sizeof idt - 1, (uintptr_t)idt};
    uint64_t base = (uintptr_t)cpu->tss, ist;

    ist = (uintptr_t)(irq_stacks[number] + STACK_BYTES);
    cpu->tss[9] = (uint32_t)ist;
    cpu->tss[10] = (uint32_t)(ist >> 32);
    cpu->gdt[1] = 0x00209a0000000000;
    cpu->gdt[2] = 0x0000920000000000;
    cpu->gdt[3] = (base & 0xff000000) << 32 | (uint64_t)0x89 << 40 |
                  (base & 0xffffff) << 16 | (sizeof cpu->tss - 1);
    cpu->gdt[4] = base >> 32;
    __asm__ volatile("lgdt %0" : : "m"(gdt));
    __asm__ volatile("ltr %w0" : : "r"(SELECTOR_TSS) : "memory");
    __asm__ volatile("lidt %0" : : "m"(interrupts));
    apic_enable();
    cpu->started = true;
}

static __attribute__((noinline)) void compute(void)
{
    spend(9000);
}

static __attribute__((noinline)) void compute_alone(void)
{
    spend(1000);
}

static void stop(void)
{
    __atomic_fetch_add(&stopped, 1, __ATOMIC_SEQ_CST);
    for (;;)
        ukplat_lcpu_halt_irq();
}

void cpu_entry(void)
{
    unsigned cpu = ukplat_lcpu_idx();

    set_up_cpu(cpu);
    while (!ended) {
        if (cpu == 1) {
            compute_alone();
            __asm__ volatile("sti");
            compute();
            __asm__ volatile("cli");
        } else {
            ukplat_lcpu_halt_irq();
        }
    }
    stop();
}

/* ---- the program */

/* Answers some requests. Returns whether the first (count) CPUs have samples
 * enough then. */
static bool sampled(unsigned count)
{
    for (unsigned i = 0; i < 16; i++)
        answer();
    return have_ticks(count, TICKS_MIN);
}

static bool pit_is_untouched(void)
{
    pc_out8(0x43, 0xe2); /* its status */
    return (pc_in8(0x40) & PIT_MODE) == PIT_ONE_SHOT;
}

/* The others have stopped. */
static void finish(void)
{
    __asm__ volatile("cli");
    prof_stop();
    prof_report();
    (void)prof_option("prof.report=folded");
    prof_report();
    if (!accounts_add_up(CPUS))
        pc_exit(2);
    pc_exit(pit_is_untouched() ? 0 : 3);
}

/* 4 GiB, in pages of 2 MiB: start64.asm has mapped the first one. */
static void map_all(void)
{
    static uint64_t level2[4][512] __attribute__((aligned(4096)));
    uint64_t *level4, *level3;

    __asm__ volatile("mov %%cr3, %0" : "=r"(level4));
    level3 = (uint64_t *)(level4[0] & ~0xfffUL);
    for (uint64_t i = 512; i < 2048; i++)
        level2[i / 512][i % 512] = i * PAGE_LARGE_BYTES | PAGE_LARGE;
    for (unsigned i = 1; i < 4; i++)
        level3[i] = (uintptr_t)level2[i] | PAGE_PRESENT;
}

static void start_next(unsigned cpu)
{
    start_cpu(cpu, (uintptr_t)(stacks[cpu] + STACK_BYTES));
    while (!cpus[cpu].started)
        ;
}

void kernel_main(void)
{
    map_all();
    pc_pic_start(0);
    pc_out8(0x43, PIT_ONE_SHOT);
    pc_out8(0x40, 0);
    pc_out8(0x40, 0);
    set_gates();
    set_up_cpu(0);
    (void)uk_intctlr_irq_register(IRQ_RUN, on_run, NULL);
    if (late_initcall(NULL) != 0)
        pc_exit(1);
    __asm__ volatile("sti");
    start_next(1);
    while (!sampled(2))
        ;
    start_next(2);
    while (!sampled(CPUS))
        ;
    for (ended = true; stopped != CPUS - 1;)
        answer();
    finish();
}
