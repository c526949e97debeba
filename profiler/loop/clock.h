/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_CLOCK_H
#define PROF_LOOP_CLOCK_H

/*
 * The clock of the loop: the time stamp counter less the time in interrupts. It
 * stands while one is handled, so what is interrupted need not know.
 *
 * The time in interrupts is prof_cpu.interrupt_cycles, where the sampler's stub
 * adds its own, and prof_loop_irq_exit() that of the kernel's handlers. One
 * that comes between the two readings has changed its lower half; then the
 * clock is read again.
 */

#include "base/cpu.h"
#include "sample/cpu_state.h"

#include <stdint.h>

#ifdef PROF_HOSTED
extern uint64_t prof_loop_hosted_tsc; /* a test's own */
#endif

static inline uint64_t prof_loop_tsc(void)
{
#ifdef PROF_HOSTED
    return prof_loop_hosted_tsc;
#else
    return prof_tsc();
#endif
}

/* The time in interrupts so far, and its lower half. */
static inline uint64_t prof_loop_away(void)
{
    return *(volatile const uint64_t *)&prof_cpus[0].interrupt_cycles;
}

typedef uint32_t __attribute__((may_alias)) prof_loop_half;

static inline uint32_t prof_loop_away_low(void)
{
    return *(volatile const prof_loop_half *)&prof_cpus[0].interrupt_cycles;
}

static inline uint64_t prof_loop_clock(void)
{
    uint32_t before;
    uint64_t now;

#ifndef PROF_HOSTED
    /* the same as below, for which compilers take half as many again */
    volatile const prof_loop_half *away =
        (volatile const prof_loop_half *)&prof_cpus[0].interrupt_cycles;

#ifdef __i386__
    __asm__ volatile("1: movl %2, %1\n\t"
                     "rdtsc\n\t"
                     "subl %1, %%eax\n\t"
                     "sbbl %3, %%edx\n\t"
                     "cmpl %2, %1\n\t"
                     "jne 1b"
                     : "=&A"(now), "=&r"(before)
                     : "m"(away[0]), "m"(away[1])
                     : "cc");
#else
    uint64_t first, high;

    (void)before;
    __asm__ volatile("1: movq %3, %1\n\t"
                     "rdtsc\n\t"
                     "shlq $32, %2\n\t"
                     "orq %2, %0\n\t"
                     "subq %1, %0\n\t"
                     "cmpq %3, %1\n\t"
                     "jne 1b"
                     : "=&a"(now), "=&r"(first), "=&d"(high)
                     : "m"(*(volatile const uint64_t *)away)
                     : "cc");
#endif
    return now;
#else
    do {
        before = prof_loop_away_low();
        now = prof_loop_tsc();
        now -= prof_loop_away();
    } while (__builtin_expect(prof_loop_away_low() != before, 0));
    return now;
#endif
}

#endif
