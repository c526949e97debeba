/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_APIC_H
#define ARCH_APIC_H

/*
 * The CPU's local APIC as the receiver of interrupts from IO-APICs. Its timer
 * is in arch/timer.h.
 */

#include <stdbool.h>
#include <stdint.h>

/*
 * Turns it on. The PIC goes on to interrupt the CPU, where there is one. False:
 * there is no local APIC. May be called again. Contexts: boot.
 */
bool arch_apic_start(void);

/* Acknowledges an interrupt that came through it. Contexts: interrupt. */
void arch_apic_eoi(void);

/* Its number, for the destination of an interrupt. */
uint32_t arch_apic_id(void);

/*
 * Counts per second of its timer, undivided, where a hypervisor says who it is
 * and that is known: QEMU's emulator and KVM count nanoseconds. 0: unknown.
 */
uint32_t arch_apic_hz(void);

/*
 * Makes its timer count from now, without an interrupt, and the counts since,
 * modulo 2^32. What arch/timer.h has armed is lost. Contexts: boot.
 */
void arch_apic_stopwatch_start(void);
uint32_t arch_apic_stopwatch(void);

#endif
