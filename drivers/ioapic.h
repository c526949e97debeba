/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IOAPIC_H
#define IOAPIC_H

/*
 * IO-APICs: each input is sent to a CPU's local APIC as a vector of its own.
 * Inputs are numbered through all of them (GSI).
 */

#include <stdbool.h>
#include <stdint.h>

#define IOAPICS_MAX 8u

/* Where the first one is on every PC, if nothing says where. */
#define IOAPIC_DEFAULT 0xfec00000u

/*
 * Adds the one at (address), whose first input is (first_gsi), and masks its
 * inputs. False: there is none, or there are too many. Contexts: boot,
 * interrupts off.
 */
bool ioapic_add(uintptr_t address, uint32_t first_gsi);

/* How many there are, and whether one of them has input (gsi). */
unsigned ioapic_count(void);
bool ioapic_has(uint32_t gsi);

/* Where the one that has input (gsi) has its registers, and the number of that
 * input there. False: none has it. */
bool ioapic_find(uint32_t gsi, uintptr_t *address, uint32_t *input);

/* Sends input (gsi) to the CPU with local APIC (apic) as (vector).
 * Contexts: boot, thread. */
void ioapic_route(uint32_t gsi, uint8_t vector, uint32_t apic, bool level,
                  bool low);

/* Sends it no longer. Contexts: boot, thread. */
void ioapic_mask(uint32_t gsi);

#endif
