/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_TRAP_H
#define ARCH_TRAP_H

/*
 * Interrupts and exceptions.
 *
 * Vectors 0 to 31 are the CPU's exceptions, 32 to 47 the PIC's sixteen lines.
 * A handler runs with interrupts off and on the interrupted stack, except for
 * exceptions that may mean that the stack is gone: double fault always, and
 * page fault on x86_64, run on the fault stack.
 */

#include <stdint.h>

#define ARCH_IRQ_BASE 32u
#define ARCH_IRQ_COUNT 16u

/* The interrupted CPU, one shape for both widths; what a width lacks is 0. */
struct arch_registers {
    uintptr_t pc, sp, fp, flags;
    uintptr_t ax, bx, cx, dx, si, di;
    uintptr_t r8, r9, r10, r11, r12, r13, r14, r15;
    uintptr_t vector;        /* exception number */
    uintptr_t error;         /* the CPU's error code, 0 where it gives none */
    uintptr_t fault_address; /* CR2 */
};

typedef void arch_irq_handler(void);

/*
 * Calls (handler) for line (line), 0 to 15, of the PIC. The handler
 * acknowledges (drivers/pic.h) by itself. Contexts: boot, thread.
 */
void arch_irq_handle(unsigned line, arch_irq_handler *handler);

/*
 * Non-maskable interrupts so far. They are counted and nothing else; on x86_64
 * they have a stack of their own.
 */
extern volatile uint32_t arch_nmi_count;

/* English name of exception (vector), never NULL. */
const char *arch_exception_name(unsigned vector);

/*
 * Given by the kernel: prints (registers) and ends the image.
 * Contexts: exception, perhaps on the fault stack, perhaps with no good stack
 * behind registers->sp. Does not return.
 */
void kernel_exception(const struct arch_registers *registers)
    __attribute__((noreturn));

#endif
