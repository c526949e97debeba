/* SPDX-License-Identifier: Apache-2.0 */

/*
 * From the stubs to whoever wants to know.
 *
 * No exception returns here: page faults are bugs, not requests. The kernel
 * gets the first one to print. It may itself be broken by then, so a second
 * one, raised while the first is being handled, is told in one line from here,
 * and a third ends the machine without a word: whatever happens, it ends.
 */

#include "trap.h"

#include "cpu_bits.h"
#include "last_word.h"
#include "tables.h"

#include <arch/cpu.h>
#include <stdint.h>

static void irq_unclaimed(void)
{
}

arch_irq_handler *trap_irq_handlers[ARCH_IRQ_COUNT] = {
    irq_unclaimed, irq_unclaimed, irq_unclaimed, irq_unclaimed,
    irq_unclaimed, irq_unclaimed, irq_unclaimed, irq_unclaimed,
    irq_unclaimed, irq_unclaimed, irq_unclaimed, irq_unclaimed,
    irq_unclaimed, irq_unclaimed, irq_unclaimed, irq_unclaimed,
};

static volatile unsigned exceptions_open; /* being handled just now */

void arch_irq_handle(unsigned line, arch_irq_handler *handler)
{
    trap_irq_handlers[line % ARCH_IRQ_COUNT] = handler;
}

static void report_nested(const struct arch_registers *registers)
{
    last_word("\narch: ");
    last_word(arch_exception_name((unsigned)registers->vector));
    last_word(" while an exception was being reported: pc ");
    last_word_hex(registers->pc);
    last_word(" sp ");
    last_word_hex(registers->sp);
    last_word(" address ");
    last_word_hex(registers->fault_address);
    last_word("\n");
}

void trap_report(const struct arch_registers *registers)
{
    struct arch_registers complete = *registers;

    complete.fault_address = cpu_cr2();
    exceptions_open = exceptions_open + 1;
    if (exceptions_open == 1)
        kernel_exception(&complete);
    if (exceptions_open == 2)
        report_nested(&complete);
    last_word_exit(LAST_WORD_EXIT_NESTED);
}

void trap_exception(const struct trap_frame *frame)
{
    const struct arch_registers registers = frame_registers(frame);

    trap_report(&registers);
}
