/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_TIMER_H
#define ARCH_TIMER_H

/*
 * The timer of the CPU's local APIC, which interrupts once, at a time. In
 * TSC-deadline mode where the CPU has it, else by counting down; its registers
 * in memory, or, in x2APIC mode, MSRs.
 */

#include <stdbool.h>
#include <stdint.h>

#define ARCH_TIMER_NS_MAX 1000000000u

/*
 * Turns the local APIC on. A timer that counts is measured against the TSC, of
 * (tsc_hz), for 10 ms. The PIC goes on to interrupt the CPU. (fired) is called
 * in each interrupt of the timer, with interrupts off; it may arm the timer
 * again, and MUST NOT use FPU or SSE. False: the CPU has no local APIC, or its
 * timer does not count. Contexts: boot, once, interrupts off.
 */
bool arch_timer_start(uint64_t tsc_hz, void (*fired)(void));

/* With several CPUs: whether there is such a timer; and it is started on a
 * further CPU, as the first one's was found. Contexts: boot; start of that
 * CPU. */
bool arch_timer_exists(void);
void arch_timer_start_further(void);

/* What it is, for a line at boot: in force after arch_timer_start(). */
const char *arch_timer_name(void);

/*
 * Interrupts (ns) nanoseconds from now, at most ARCH_TIMER_NS_MAX, instead of
 * when it was to before; up to a microsecond early or some parts in 10,000
 * late. Does nothing where there is no timer. Contexts: boot, thread, (fired).
 */
void arch_timer_arm(uint64_t ns);

/* No interrupts from now on, but for one that has come: on CPU 0, which calls
 * it. Contexts: boot. */
void arch_timer_stop(void);

/*
 * Somebody who shares the timers: what a CPU is about to write to its own, a
 * count or a deadline of the TSC, is passed through these, with interrupts off,
 * and what they return is written. NULL: nobody does.
 */
struct arch_timer_sharing {
    uint32_t (*count)(uint32_t count);
    uint64_t (*tsc)(uint64_t deadline);
};

extern struct arch_timer_sharing arch_timer_sharing;

#endif
