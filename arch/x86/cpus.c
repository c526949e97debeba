/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Starting further CPUs, and stopping them.
 *
 * Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 3, Multiple-Processor Management; Intel, MultiProcessor Specification 1.4,
 * B.4: INIT, 10 ms, and the start interrupt, which may get lost once.
 *
 * The block of memory of a CPU, from its beginning:
 *
 *     tables | guard, NMI stack | guard, fault stack | guard, stack
 */

#include <arch/cpus.h>

#if ARCH_CPUS_MAX > 1

#include "cpu_bits.h"
#include "cpu_start.h"
#include "lapic.h"
#include "page.h"
#include "paging.h"
#include "start.h"
#include "tables.h"
#include "trap.h"

#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/features.h>
#include <stddef.h>

#define LOW_END ((uintptr_t)1 << 20)
#define INIT_MS 10u
/* A host with other work may run a virtual CPU as late as that. */
#define STOP_CYCLES ((uint64_t)1 << 33)

#define NMI_STACK_BYTES (2 * PAGE_BYTES)
#define FAULT_STACK_BYTES (4 * PAGE_BYTES)
#define NMI_TOP (CPU_TABLES_BYTES + PAGE_BYTES + NMI_STACK_BYTES)
#define FAULT_TOP (NMI_TOP + PAGE_BYTES + FAULT_STACK_BYTES)
#define STACK_BEGIN (FAULT_TOP + PAGE_BYTES)

_Static_assert(ARCH_CPU_BYTES >= STACK_BEGIN + 16 * PAGE_BYTES,
               "64 KiB of stack at least");

volatile uint32_t cpu_start_stack;
uint32_t cpu_start_cr0, cpu_start_cr3, cpu_start_cr4, cpu_start_efer;

static struct {
    uint32_t apic;
    uintptr_t memory; /* 0: this CPU has not started */
} cpus[ARCH_CPUS_MAX];

/* Of the one that is being started. */
static unsigned starting;
static uintptr_t starting_memory;
static uint32_t starting_apic; /* as it says itself */
static void (*starting_begin)(void);
static enum progress {
    COMES,   /* it has not loaded its tables yet */
    RUNS,    /* set by itself */
    GIVEN_UP /* set by CPU 0 */
} progress;

/* False: the other side has said something else before. */
static bool decide(enum progress to)
{
    enum progress from = COMES;

    return __atomic_compare_exchange_n(&progress, &from, to, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void on_call(void)
{
    arch_apic_eoi();
}

void cpu_started(void)
{
    const uintptr_t memory = starting_memory;
    void (*const begin)(void) = starting_begin;

    tables_load_further(starting, (void *)memory, memory + FAULT_TOP,
                        memory + NMI_TOP);
    fpu_start();
    lapic_start_further();
    starting_apic = arch_apic_id();
    if (decide(RUNS))
        begin();
    arch_stop();
}

/* With caches on, which they are not after INIT. */
static void prepare(void)
{
    cpu_start_cr0 = (uint32_t)(cpu_cr0() & ~(CR0_CD | CR0_NW));
    cpu_start_cr3 = (uint32_t)cpu_cr3();
    cpu_start_cr4 = (uint32_t)cpu_cr4();
    cpu_start_efer = 0;
    if (sizeof(uintptr_t) == 8 || paging_no_execute != 0)
        cpu_start_efer = (uint32_t)(cpu_msr(MSR_EFER) & (EFER_LME | EFER_NXE));
    arch_irq_handle(ARCH_IRQ_CALL, on_call);
    cpus[0].apic = arch_apic_id();
}

/* The page below 1 MiB that CPUs begin in: 0, there is none. */
static uintptr_t place_code(void)
{
    const uintptr_t page = arch_free_region(PAGE_BYTES, PAGE_BYTES).begin;
    volatile char *to = (volatile char *)page;

    if (page == 0 || page >= LOW_END)
        return 0;
    for (size_t i = 0; cpu_start_code + i < cpu_start_code_end; i++)
        to[i] = cpu_start_code[i];
    return page;
}

static bool place_guards(uintptr_t memory, void *(*page)(void))
{
    return paging_guard(memory + CPU_TABLES_BYTES, page) &&
           paging_guard(memory + NMI_TOP, page) &&
           paging_guard(memory + FAULT_TOP, page);
}

/* Waits until it has taken its stack, or (cycles). */
static bool is_taken_within(uint64_t cycles)
{
    const uint64_t begin = arch_tsc();

    while (cpu_start_stack != 0 && arch_tsc() - begin < cycles)
        arch_pause();
    return cpu_start_stack == 0;
}

/* Waits until it runs, or gives it up after (cycles). Whoever has taken the
 * stack may still be one that an earlier start has woken. */
static bool runs_within(uint64_t cycles)
{
    const uint64_t begin = arch_tsc();

    while (__atomic_load_n(&progress, __ATOMIC_ACQUIRE) == COMES) {
        if (arch_tsc() - begin >= cycles)
            return !decide(GIVEN_UP);
        arch_pause();
    }
    return true;
}

static void wait_ms(uint32_t ms, uint64_t tsc_hz)
{
    const uint64_t begin = arch_tsc();

    while (arch_tsc() - begin < tsc_hz / 1000 * ms)
        arch_pause();
}

enum arch_cpu_start arch_cpu_start(uint32_t apic, unsigned number, void *memory,
                                   void *(*page)(void), uint64_t tsc_hz,
                                   uint32_t patience_ms, void (*begin)(void))
{
    const uintptr_t code = place_code();
    const uint32_t start = LAPIC_ICR_START | (uint32_t)(code / PAGE_BYTES);

    if (!lapic_reaches(apic))
        return ARCH_CPU_FAR;
    if (code == 0 || !place_guards((uintptr_t)memory, page))
        return ARCH_CPU_NO_PAGE;
    prepare();
    starting = number;
    starting_memory = (uintptr_t)memory;
    starting_begin = begin;
    __atomic_store_n(&progress, COMES, __ATOMIC_RELAXED);
    __atomic_store_n(&cpu_start_stack,
                     (uint32_t)((uintptr_t)memory + ARCH_CPU_BYTES),
                     __ATOMIC_RELEASE);

    lapic_send(apic, LAPIC_ICR_INIT);
    wait_ms(INIT_MS, tsc_hz);
    lapic_send(apic, start);
    if (!is_taken_within(tsc_hz / 1000)) {
        lapic_send(apic, start);
        (void)is_taken_within(tsc_hz / 1000 * patience_ms);
    }
    /* whoever takes it now has it: this CPU, or the one that comes too late */
    if (__atomic_exchange_n(&cpu_start_stack, 0, __ATOMIC_ACQ_REL) != 0)
        return ARCH_CPU_SILENT;
    if (!runs_within(tsc_hz / 1000 * patience_ms))
        return ARCH_CPU_STUCK;
    cpus[number].apic = starting_apic;
    cpus[number].memory = starting_memory;
    return ARCH_CPU_STARTED;
}

void arch_cpu_interrupt(unsigned number)
{
    lapic_send(cpus[number].apic,
               LAPIC_ICR_FIXED | (ARCH_IRQ_BASE + ARCH_IRQ_CALL));
}

static bool runs(unsigned number)
{
    return number == 0 || cpus[number].memory != 0;
}

/* Not by the shorthand for all others: a CPU that has not started has no IDT,
 * and an NMI would reset the machine. Whoever samples by NMIs may have the
 * gate. Returns to how many they were sent. */
static uint32_t send_nmis(unsigned own)
{
    uint32_t others = 0;

    for (unsigned i = 0; i < ARCH_CPUS_MAX; i++)
        if (runs(i))
            tables_reclaim_nmi((void *)cpus[i].memory);
    for (unsigned i = 0; i < ARCH_CPUS_MAX; i++)
        if (runs(i) && i != own) {
            lapic_send(cpus[i].apic, LAPIC_ICR_NMI);
            others++;
        }
    return others;
}

unsigned arch_cpus_stop_others(void)
{
    const uint32_t own = arch_cpu_number() + 1;
    const uint64_t begin = arch_tsc();
    uint32_t nobody = 0, others;

    if (!__atomic_compare_exchange_n(&trap_runs_alone, &nobody, own, false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        if (nobody != own)
            arch_stop();
        return 0;
    }
    others = send_nmis(own - 1);
    while (trap_stopped < others && arch_tsc() - begin < STOP_CYCLES)
        arch_pause();
    return others - trap_stopped;
}

bool arch_cpu_stack(uintptr_t address, struct arch_region *stack)
{
    for (unsigned i = 1; i < ARCH_CPUS_MAX; i++) {
        const uintptr_t memory = cpus[i].memory;

        /* its guard page included */
        if (memory == 0 ||
            address - memory - FAULT_TOP >= ARCH_CPU_BYTES - FAULT_TOP)
            continue;
        *stack =
            (struct arch_region){memory + STACK_BEGIN, memory + ARCH_CPU_BYTES};
        return true;
    }
    return false;
}

#endif
