/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TABLES_H
#define TABLES_H

/*
 * The CPU's own tables: GDT, task state and IDT. One tables.c for each width,
 * for their shapes have nothing in common but the name.
 */

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

/* What lgdt and lidt read. */
struct table_pointer {
    uint16_t limit; /* bytes less one */
    uintptr_t base;
} __attribute__((packed));

/* Read by boot.asm before there is any C. */
extern const struct table_pointer gdt_pointer;

/* trap.asm's entries, by vector. */
extern void (*const trap_stubs[TRAP_STUBS])(void);

/* Bounds given by the linker script, as those in arch/boot.h. */
extern char nmi_stack_bottom[], nmi_stack_top[];

/*
 * Fills in the task state and the IDT and tells the CPU. Vectors beyond
 * TRAP_STUBS stay absent: one that comes all the same is a general protection
 * fault that names it. Contexts: boot, once.
 */
void tables_load(void);

static inline void tables_load_idt(const struct table_pointer *pointer)
{
    __asm__ volatile("lidt %0" : : "m"(*pointer) : "memory");
}

static inline void tables_load_task(uint16_t selector)
{
    __asm__ volatile("ltr %0" : : "r"(selector) : "memory");
}

#endif
