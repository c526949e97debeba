/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TICK_IOAPIC_H
#define PROF_TICK_IOAPIC_H

/*
 * One input of the I/O APIC, as far as the source `nmi` needs it.
 *
 * The register that selects another is shared with the kernel: it is put back
 * after each access. That is enough where nothing comes in between: interrupts
 * are off, and no other CPU uses the I/O APIC at the same time.
 *
 * Source: Intel, 82093AA I/O Advanced Programmable Interrupt Controller, 1996.
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_IOAPIC_PHYSICAL 0xfec00000u

/* What the two halves of an input's entry say. */
#define PROF_IOAPIC_NMI (4u << 8) /* delivered as one; by edges */
#define PROF_IOAPIC_LOGICAL (1u << 11)
#define PROF_IOAPIC_MASKED (1u << 16)
#define PROF_IOAPIC_STATUS (1u << 12 | 1u << 14) /* which it sets itself */
#define PROF_IOAPIC_TO_SHIFT 24

#ifdef PROF_HOSTED
/* A test's own registers. */
struct prof_ioapic_test {
    uint32_t (*read)(uint32_t offset);
    void (*write)(uint32_t offset, uint32_t value);
};
extern const struct prof_ioapic_test *prof_ioapic_test;
#endif

struct prof_ioapic_entry {
    uint32_t low, high;
};

/* Whether one is at (at) that has (input). */
bool prof_ioapic_has(uintptr_t at, uint32_t input);

struct prof_ioapic_entry prof_ioapic_get(uintptr_t at, uint32_t input);

/* The upper half comes first: the lower one opens the entry. */
void prof_ioapic_set(uintptr_t at, uint32_t input,
                     struct prof_ioapic_entry entry);

/* Only its lower half. */
void prof_ioapic_set_low(uintptr_t at, uint32_t input, uint32_t low);

#endif
