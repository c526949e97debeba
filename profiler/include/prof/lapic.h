/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LAPIC_H
#define PROF_LAPIC_H

/*
 * Sharing the local APIC's timer between the profiler and a kernel that arms it
 * for one deadline after the other (PROF_TICK_LAPIC or PROF_TICK_AUTO with
 * config.tick.lapic_shared). The kernel passes each value for the timer through
 * one of these calls, and writes the value returned:
 *
 *     apic_write(INITIAL_COUNT, prof_lapic_arm(count));    one-shot, or
 *     wrmsr(IA32_TSC_DEADLINE, prof_lapic_arm_tsc(when));  TSC-deadline
 *
 * The value returned is the kernel's deadline or the next sample, whichever
 * comes first. While sampling, the profiler owns the gate of the timer's
 * interrupt. It handles an interrupt for a sample: acknowledges it and arms the
 * timer again. It chains one for the kernel's deadline to the kernel's handler,
 * which acknowledges it as usual. So the handler runs as often as without the
 * profiler, and never before its deadline. It may run late by the length of the
 * sampling interrupt, and, in one-shot mode, by the error of the ratio between
 * the timer's clock and the TSC, some parts per million.
 *
 * While sampling is stopped, and with any other source, both calls return their
 * argument. The kernel passes a 0, which disarms the timer, through them, too.
 * The timer's CURRENT_COUNT may be that of a sample. The kernel MUST NOT change
 * the timer's mode or divider between prof_start() and prof_stop(), except from
 * one-shot to TSC-deadline or back.
 *
 * Each CPU has a timer of its own (<prof/cpus.h>): both calls are for the
 * calling CPU.
 *
 * Contexts: any, with interrupts off until the value returned is written. If
 * interrupts are on, a tick between the call and the write delays the deadline
 * by the time between the two.
 */

#include <prof/config.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if PROF_WITH_LAPIC
/* Returns the initial count to write for a deadline (count) counts from now,
 * with the timer's divider as the kernel has set it. 0 disarms. */
uint32_t prof_lapic_arm(uint32_t count);

/* Returns the TSC value to write for a deadline at TSC value (deadline). 0
 * disarms. */
uint64_t prof_lapic_arm_tsc(uint64_t deadline);
#else
static inline uint32_t prof_lapic_arm(uint32_t count)
{
    return count;
}

static inline uint64_t prof_lapic_arm_tsc(uint64_t deadline)
{
    return deadline;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
