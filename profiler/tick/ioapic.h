/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TICK_IOAPIC_H
#define PROF_TICK_IOAPIC_H

/*
 * Access to one input of the I/O APIC, for the source `nmi`.
 *
 * The index register is shared with the kernel, and is restored after each
 * access. This is safe if interrupts are off and no other CPU accesses the I/O
 * APIC at the same time.
 *
 * Source: Intel, 82093AA I/O Advanced Programmable Interrupt Controller, 1996.
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_IOAPIC_PHYSICAL 0xfec00000u

/* Bits of the two halves of a redirection entry. */
#define PROF_IOAPIC_NMI (4u << 8) /* delivery mode NMI, edge-triggered */
#define PROF_IOAPIC_LOGICAL (1u << 11)
#define PROF_IOAPIC_MASKED (1u << 16)
#define PROF_IOAPIC_STATUS (1u << 12 | 1u << 14) /* read-only bits */
#define PROF_IOAPIC_TO_SHIFT 24

#ifdef PROF_HOSTED
/* Registers of a test. */
struct prof_ioapic_test {
    uint32_t (*read)(uint32_t offset);
    void (*write)(uint32_t offset, uint32_t value);
};
extern const struct prof_ioapic_test *prof_ioapic_test;
#endif

struct prof_ioapic_entry {
    uint32_t low, high;
};

/* Returns whether there is an I/O APIC at address (at), with (input). */
bool prof_ioapic_has(uintptr_t at, uint32_t input);

/* Reads the entry of (input). */
struct prof_ioapic_entry prof_ioapic_get(uintptr_t at, uint32_t input);

/* Writes (entry), upper half first, as the lower half may unmask the input. */
void prof_ioapic_set(uintptr_t at, uint32_t input,
                     struct prof_ioapic_entry entry);

/* Writes the lower half of the entry only. */
void prof_ioapic_set_low(uintptr_t at, uint32_t input, uint32_t low);

#endif
