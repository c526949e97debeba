/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Dispatches interrupts and exceptions from the stubs in trap.asm.
 *
 * No exception returns: page faults are bugs, not requests. The kernel prints
 * the first one. If that raises another, one line goes to the emergency console
 * from here; a third ends the image without output. It always ends.
 */

#include "trap.h"

#include "cpu_bits.h"
#include "emergency_console.h"

#include <arch/cpu.h>
#include <arch/cpu_number.h>
#include <stdint.h>

/* Being handled now, on each CPU. */
static volatile unsigned exceptions_open[ARCH_CPUS_MAX];

static void report_nested(const struct arch_registers *registers)
{
    emergency_print("\narch: ");
    emergency_print(arch_exception_name((unsigned)registers->vector));
    emergency_print(" while an exception was being reported: pc ");
    emergency_print_hex(registers->pc);
    emergency_print(" sp ");
    emergency_print_hex(registers->sp);
    emergency_print(" address ");
    emergency_print_hex(registers->fault_address);
    emergency_print("\n");
}

void trap_report(const struct arch_registers *registers)
{
    volatile unsigned *open = &exceptions_open[arch_cpu_number()];
    struct arch_registers complete = *registers;

    complete.fault_address = cpu_cr2();
    *open = *open + 1;
    if (*open == 1)
        kernel_exception(&complete);
    if (*open == 2)
        report_nested(&complete);
    emergency_exit(EMERGENCY_EXIT_NESTED);
}

void trap_exception(const struct trap_frame *frame)
{
    const struct arch_registers registers = frame_registers(frame);

    trap_report(&registers);
}
