/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_CPUS_H
#define ARCH_CPUS_H

/*
 * Several CPUs: starting them, interrupting and stopping them. CPU 0 boots the
 * image and starts the others, one at a time. Each has its own task state, IDT,
 * stack, fault stack and NMI stack; the GDT, page tables and the table of
 * interrupt handlers are common.
 */

#include <arch/boot.h>
#include <arch/cpu_number.h>
#include <stdbool.h>
#include <stdint.h>

#if ARCH_CPUS_MAX == 1

static inline unsigned arch_cpus_stop_others(void)
{
    return 0;
}

#else

/* Memory that each further CPU needs, aligned to ARCH_PAGE_BYTES and below 4
 * GiB: stacks, each above a page that is unmapped, and tables. */
#define ARCH_CPU_BYTES (32u * 4096u)

enum arch_cpu_start {
    ARCH_CPU_STARTED,
    ARCH_CPU_SILENT,  /* it did not answer, and will not run if it does later */
    ARCH_CPU_STUCK,   /* it began and did not finish, and will not run if it
                         does later; (memory) is its own for good, and no other
                         CPU may be started */
    ARCH_CPU_FAR,     /* no interrupt can be sent to it: its local APIC has a
                         number that only x2APIC mode knows */
    ARCH_CPU_NO_PAGE, /* no free page below 1 MiB, or for page tables */
};

/*
 * Starts the CPU with local APIC (apic) as CPU (number), and waits until it
 * runs: some 10 ms, or until it has shown no progress for (patience_ms), for a
 * TSC of (tsc_hz). Its tables are loaded and its local APIC is on then, and it
 * calls (begin) on its own stack, with interrupts off, which must not return.
 * (memory) is its own for good, unless it did not start. Pages for tables come
 * from (page), which returns RAM or NULL. Contexts: boot of CPU 0, thread,
 * after arch_timer_start().
 */
enum arch_cpu_start arch_cpu_start(uint32_t apic, unsigned number, void *memory,
                                   void *(*page)(void), uint64_t tsc_hz,
                                   uint32_t patience_ms, void (*begin)(void));

/* Interrupts CPU (number), which has started, by line ARCH_IRQ_CALL. That does
 * nothing but end a halt. Contexts: any. */
void arch_cpu_interrupt(unsigned number);

/*
 * From now on the calling CPU runs alone: the others stop for good, whatever
 * they do, also with interrupts off. Returns 0 when they have, or after some
 * seconds how many have not. If two CPUs call it, the second one stops instead.
 * May be called again by the CPU that runs. Contexts: any, interrupts off.
 */
unsigned arch_cpus_stop_others(void);

/* The stack of a further CPU that (address) is in, or whose guard page it is
 * in. False: there is none. Contexts: any. */
bool arch_cpu_stack(uintptr_t address, struct arch_region *stack);

#endif

#endif
