/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TABLES_H
#define TABLES_H

/*
 * The CPU's tables: GDT, task state and IDT. Their layouts differ so much that
 * each width has its own tables.c.
 */

#include <arch/cpu_number.h>
#include <arch/trap.h>
#include <stdint.h>

#define CODE_SELECTOR 0x08u /* as in boot.asm */
#define DATA_SELECTOR 0x10u
#define TASK_SELECTOR 0x18u

#define TRAP_VECTORS 256u
#define TRAP_STUBS (ARCH_IRQ_BASE + ARCH_IRQ_COUNT)
#define TRAP_NMI 2u
#define TRAP_DOUBLE_FAULT 8u
#define TRAP_PAGE_FAULT 14u

#define GATE_PRESENT 0x80u
#define GATE_INTERRUPT 0x0eu /* clears IF on entry */
#define GATE_TASK 0x05u

/* Operand of lgdt and lidt. */
struct table_pointer {
    uint16_t limit; /* bytes less one */
    uintptr_t base;
} __attribute__((packed));

/* Used by boot.asm before any C code runs. */
extern const struct table_pointer gdt_pointer;

/* Entry points in trap.asm, by vector. */
extern void (*const trap_stubs[TRAP_STUBS])(void);

/*
 * Fills in and loads the task state and the IDT. Vectors from TRAP_STUBS up
 * are not present: such an interrupt raises a general protection fault whose
 * error code contains the vector. Contexts: boot, once.
 */
void tables_load(void);

#if ARCH_CPUS_MAX > 1

/* Two selectors for each CPU, from TASK_SELECTOR on. */
#define TASK_SELECTOR_OF(number)                                               \
    (TASK_SELECTOR + ((number) << ARCH_CPU_TASK_SHIFT))
_Static_assert(TASK_SELECTOR == ARCH_CPU_TASK_FIRST, "as <arch/cpus.h> says");

/* What a further CPU has of its own: task states and an IDT. */
#define CPU_TABLES_BYTES 8192u

/*
 * Fills in and loads those of CPU (number), in (memory), aligned to 16 bytes,
 * with the tops of two stacks. Contexts: start of that CPU, once.
 */
void tables_load_further(unsigned number, void *memory, uintptr_t fault_top,
                         uintptr_t nmi_top);

/* The gate of NMIs becomes ours again, whoever has it: in the tables at
 * (memory), or, with NULL, in CPU 0's. */
void tables_reclaim_nmi(void *memory);

#endif

static inline void tables_load_idt(const struct table_pointer *pointer)
{
    __asm__ volatile("lidt %0" : : "m"(*pointer) : "memory");
}

static inline void tables_load_task(uint16_t selector)
{
    __asm__ volatile("ltr %0" : : "r"(selector) : "memory");
}

#endif
