/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAPIC_H
#define LAPIC_H

/*
 * The local APIC's registers, by their offset in memory. In x2APIC mode they
 * are MSRs. After arch_apic_start().
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 3, Advanced Programmable Interrupt Controller.
 */

#include <stdbool.h>
#include <stdint.h>

#define LAPIC_EOI 0x0b0u
#define LAPIC_LVT_TIMER 0x320u
#define LAPIC_LVT_MASKED (1u << 16)
#define LAPIC_LVT_TSC_DEADLINE (2u << 17)
#define LAPIC_INITIAL_COUNT 0x380u
#define LAPIC_CURRENT_COUNT 0x390u
#define LAPIC_DIVIDE 0x3e0u
#define LAPIC_DIVIDE_BY_1 0x0bu

/* Interrupt commands. */
#define LAPIC_ICR 0x300u
#define LAPIC_ICR_HIGH 0x310u
#define LAPIC_ICR_NMI 0x4400u
#define LAPIC_ICR_INIT 0x4500u
#define LAPIC_ICR_START 0x4600u /* with the number of a page */
#define LAPIC_ICR_FIXED 0x4000u /* with a vector */
#define LAPIC_ICR_PENDING (1u << 12)

uint32_t lapic_get(uint32_t offset);
void lapic_set(uint32_t offset, uint32_t value);

/* Whether a command can be sent to local APIC (apic) alone: outside of x2APIC
 * mode its number has 8 bits there, and all ones are all CPUs. */
bool lapic_reaches(uint32_t apic);

/* Sends (command) to the CPU with local APIC (apic), which MUST be one that
 * lapic_reaches(). Contexts: any. */
void lapic_send(uint32_t apic, uint32_t command);

/* Turns on the local APIC of a CPU that is not the first one, in the mode that
 * the first one's is in. Contexts: start of that CPU. */
void lapic_start_further(void);

#endif
