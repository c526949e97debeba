/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_TIMER_H
#define ARCH_TIMER_H

/*
 * The timer of the CPU's local APIC, which interrupts once, after a time. Its
 * interrupt (ARCH_IRQ_TIMER) does nothing but end a halt: whoever armed it then
 * reads the clock.
 */

#include <stdbool.h>
#include <stdint.h>

#define ARCH_TIMER_NS_MAX 1000000000u

/*
 * Turns the local APIC on and measures its timer against the TSC, of (tsc_hz),
 * for 10 ms. The PIC goes on to interrupt the CPU. False: the CPU has no local
 * APIC, or its timer does not count. Contexts: boot, once, interrupts off.
 */
bool arch_timer_start(uint64_t tsc_hz);

/*
 * Interrupts (ns) nanoseconds from now, at most ARCH_TIMER_NS_MAX, instead of
 * when it was to before; up to a microsecond early or some parts in 10,000
 * late. Does nothing where there is no timer. Contexts: boot, thread.
 */
void arch_timer_arm(uint64_t ns);

/* Where set, arch_timer_arm() writes to the timer what this returns for the
 * count that it would have written, with interrupts off: somebody shares it. */
extern uint32_t (*arch_timer_share)(uint32_t count);

#endif
