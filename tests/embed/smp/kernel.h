/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#include "../pc.h"

#define CPU_FIRST 0 /* number of its local APIC */

extern const char code_begin[], code_end[];

/* Acknowledges an interrupt of this CPU's local APIC. */
void apic_done(void);

/* Has the IOAPIC deliver the interrupts at (pin), an ISA line's, to (cpu) as
 * (vector). */
void ioapic_route(unsigned pin, unsigned cpu, uint8_t vector);

/* parasite.c; returns 0 if all is well. */
int profiler_start(void);

#endif
