/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_TRAP_H
#define ARCH_TRAP_H

/*
 * Interrupts and exceptions.
 *
 * Vectors 0 to 31 are the CPU's exceptions, 32 to 47 the sixteen lines of a PC,
 * which come from the PIC or an IO-APIC. Two more lines are the local APIC's
 * (arch/timer.h), and sixteen are for other inputs of IO-APICs; where there may
 * be several CPUs, one of these is for interrupts from another CPU.
 * Handlers run with interrupts off on the interrupted stack. Exceptions that
 * may be caused by a stack overflow run on the fault stack instead: double
 * fault always, page fault on x86_64.
 */

#include <arch/cpu_number.h>
#include <arch/registers.h>
#include <stdbool.h>
#include <stdint.h>

#define ARCH_IRQ_BASE 32u
#define ARCH_IRQ_COUNT 34u
#define ARCH_IRQ_TIMER 16u
#define ARCH_IRQ_SPURIOUS 17u
#if ARCH_CPUS_MAX == 1
#define ARCH_IRQ_MORE 18u /* the first of the others */
#else
#define ARCH_IRQ_CALL 18u /* from another CPU (arch/cpus.h) */
#define ARCH_IRQ_MORE 19u
#endif

typedef void arch_irq_handler(void);

/*
 * Calls (handler) for line (line), below ARCH_IRQ_COUNT. The handler must
 * acknowledge the interrupt itself (drivers/irq.h).
 * Contexts: boot, thread.
 */
void arch_irq_handle(unsigned line, arch_irq_handler *handler);

/* Whether (line) has a handler. Contexts: boot, thread. */
bool arch_irq_is_handled(unsigned line);

/*
 * Calls (enter) before and (leave) after each handler from now on, with the
 * vector; with NULL no longer. Contexts: thread. Both run with interrupts off
 * and MUST NOT use FPU or SSE.
 */
typedef void arch_irq_observer(unsigned vector);
void arch_irq_observe(arch_irq_observer *enter, arch_irq_observer *leave);

/*
 * What the interrupt has interrupted: its next instruction, its stack pointer
 * and its frame pointer. (frame) is __builtin_frame_address(0) of an observer.
 * Contexts: the observer.
 */
struct arch_interrupted {
    uintptr_t pc, sp, fp;
};
void arch_irq_interrupted(const void *frame, struct arch_interrupted *at);

/*
 * Non-maskable interrupts so far. They are only counted. On x86_64 they have a
 * stack of their own.
 */
extern volatile uint32_t arch_nmi_count;

/* Name of exception (vector), never NULL. */
const char *arch_exception_name(unsigned vector);

/*
 * Defined by the kernel: prints (registers) and ends the image. Contexts:
 * exception, possibly on the fault stack; registers->sp may not point into any
 * stack. Does not return.
 */
void kernel_exception(const struct arch_registers *registers)
    __attribute__((noreturn));

#endif
