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

#include <stdint.h>

#define LAPIC_EOI 0x0b0u
#define LAPIC_LVT_TIMER 0x320u
#define LAPIC_LVT_MASKED (1u << 16)
#define LAPIC_LVT_TSC_DEADLINE (2u << 17)
#define LAPIC_INITIAL_COUNT 0x380u
#define LAPIC_CURRENT_COUNT 0x390u
#define LAPIC_DIVIDE 0x3e0u
#define LAPIC_DIVIDE_BY_1 0x0bu

uint32_t lapic_get(uint32_t offset);
void lapic_set(uint32_t offset, uint32_t value);

#endif
