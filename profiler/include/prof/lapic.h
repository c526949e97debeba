/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LAPIC_H
#define PROF_LAPIC_H

/*
 * For kernels that arm the local APIC's timer themselves, for one deadline
 * after the other, and let the profiler sample by it (PROF_TICK_LAPIC or
 * PROF_TICK_AUTO with config.tick.lapic_shared). What such a kernel is about to
 * write to the timer it passes through one of these calls, and writes what they
 * return:
 *
 *     apic_write(INITIAL_COUNT, prof_lapic_arm(count));    one-shot, or
 *     wrmsr(IA32_TSC_DEADLINE, prof_lapic_arm_tsc(when));  TSC-deadline
 *
 * That is the sooner of the kernel's deadline and the next sample. While
 * sampling, the profiler stands in the gate of the timer's interrupt. It takes
 * those interrupts that are for a sample, acknowledges them and arms the timer
 * again. One that is for the kernel's deadline goes on to the kernel's handler,
 * which acknowledges it as ever. So the handler runs as often as without the
 * profiler, never before the deadline, and later by no more than the sampling
 * interrupt takes, and what a deadline of (count) differs from one by the TSC:
 * the ratio of both clocks is known to some parts in a million.
 *
 * While nothing is sampled, and with any other source, both return what they
 * are given. Disarming by 0 is passed through them, too. The count that is left
 * (CURRENT_COUNT) may be a sample's. The timer's mode and division must not
 * change between prof_start() and prof_stop(), except from one-shot to
 * TSC-deadline or back.
 *
 * With several CPUs (<prof/cpus.h>) each one has a timer of its own: both calls
 * are about the CPU that makes them.
 *
 * Contexts: any with interrupts off, up to the write of what was returned. With
 * interrupts on, a tick between the two makes the deadline late by the time
 * between them.
 */

#include <prof/config.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if PROF_WITH_LAPIC
/* (count) of the timer from now on, as the kernel has set its division. */
uint32_t prof_lapic_arm(uint32_t count);

/* (deadline): a TSC value. */
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
