/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAP_H
#define TRAP_H

/* Shared by trap.asm, tables.c and trap.c. */

#include "frame.h"

#include <arch/trap.h>

/* Handlers of the PIC's lines, never NULL; read by trap.asm's stubs. */
extern arch_irq_handler *trap_irq_handlers[ARCH_IRQ_COUNT];

#if ARCH_CPUS_MAX > 1
/* The number, and 1, of the CPU that is to run alone, 0 = all run; and how many
 * have stopped for it. Read and written by trap.asm's stub of NMIs. */
extern volatile uint32_t trap_runs_alone, trap_stopped;
#endif

/* Called by the stubs of exceptions. */
void trap_exception(const struct trap_frame *frame) __attribute__((noreturn));

/* Called by the stub of the fault task (i386). */
void trap_double_fault(void) __attribute__((noreturn));

/*
 * Adds CR2 to (registers) and passes them to the kernel, or prints them on the
 * emergency console if the kernel is already handling an exception.
 */
void trap_report(const struct arch_registers *registers)
    __attribute__((noreturn));

#endif
