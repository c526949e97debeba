/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAP_H
#define TRAP_H

/* Between trap.asm, tables.c and trap.c. */

#include "frame.h"

#include <arch/trap.h>

/* Handlers of the PIC's lines, never NULL; read by trap.asm's stubs. */
extern arch_irq_handler *trap_irq_handlers[ARCH_IRQ_COUNT];

/* An exception's stub ends here. */
void trap_exception(const struct trap_frame *frame) __attribute__((noreturn));

/* The fault task's stub ends here (i386). */
void trap_double_fault(void) __attribute__((noreturn));

/*
 * Adds CR2 to (registers) and hands them to the kernel, or says a last word
 * when the kernel is at it already.
 */
void trap_report(const struct arch_registers *registers)
    __attribute__((noreturn));

#endif
