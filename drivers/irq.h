/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRQ_H
#define IRQ_H

/*
 * Interrupt lines of devices, whichever controller has them. Lines 0 to 15 are
 * those of a PC: the PIC has them, or, on a machine without one, an IO-APIC.
 * Other inputs of IO-APICs get lines from ARCH_IRQ_MORE on, of which there are
 * sixteen. Handlers are arch_irq_handle()'s.
 */

#include "acpi.h"

#include <stdbool.h>
#include <stdint.h>

#define IRQ_NONE 255u

/*
 * Finds the controllers and masks all lines. False: there is neither a PIC nor
 * an IO-APIC. Contexts: boot, once, after acpi_start(), interrupts off.
 */
bool irq_start(void);

/* Whether there is a PIC. */
bool irq_has_pic(void);

/* Which input of which IO-APIC has the PIT's interrupt, whoever handles line 0.
 * False: there is no such IO-APIC. Contexts: boot, thread. */
bool irq_timer_input(uintptr_t *ioapic, uint32_t *input);

/*
 * The line for an input of an IO-APIC, masked; IRQ_NONE: there is no such
 * input, or no line is left. The same input has the same line. Contexts:
 * thread.
 */
unsigned irq_line_of(const struct acpi_input *input);

/* Enables or disables (line). Contexts: boot, thread. */
void irq_unmask(unsigned line);
void irq_mask(unsigned line);

/* Acknowledges (line). Contexts: interrupt. */
void irq_done(unsigned line);

/* Whether the current interrupt of (line) is spurious: see pic.h. */
bool irq_spurious(unsigned line);

/* What acknowledges line 0: what current_eoi_mechanism may point to. */
typedef void irq_timer_done(void);
irq_timer_done *irq_done_timer(void);

#endif
