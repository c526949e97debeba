/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#include "../pc.h"

#define IOAPIC_VECTOR 0x30 /* of the PIT, where the I/O APIC delivers it */
#define SAMPLE_VECTOR 0x31 /* free */

/* Acknowledges the kernel's tick. */
extern void (*acknowledge)(void);

extern const char code_begin[], code_end[];

/* parasite.c; (line): the options. The PIT interrupts by (vector), once in
 * (divisor) of its counts; 0: the kernel does not use it. Returns 0 if all is
 * well. */
int profiler_start(const char *line, uint32_t divisor, uint8_t vector);

#endif
