/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAP_H
#define TRAP_H

/* Shared by trap.asm, tables.c and trap.c. */

#include "frame.h"

#include <arch/trap.h>

/* Handlers of the PIC's lines, never NULL; read by trap.asm's stubs. */
extern arch_irq_handler *trap_irq_handlers[ARCH_IRQ_COUNT];

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
