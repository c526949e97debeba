/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_CLOCK_H
#define PROF_LOOP_CLOCK_H

/*
 * The clock of the loop is the time stamp counter. What each run and each pause
 * does with it needs its lower half only, and no interrupt's time: as long as
 * its upper half is still the one of the last prof_loop_rebase(), and no time
 * in interrupts has been added to prof_cpu.interrupt_cycles since then, by the
 * sampler's stub or by prof_loop_irq_exit(). The counter is read first and
 * prof_loop_interrupted() asked then, so that an interrupt between the two is
 * seen.
 */

#include "base/cpu.h"
#include "sample/cpu_state.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef PROF_HOSTED
extern uint64_t prof_loop_hosted_tsc; /* a test's own */
#endif

struct prof_loop_reading {
    uint32_t low, high;
};

static inline struct prof_loop_reading prof_loop_read(void)
{
    struct prof_loop_reading now;

#ifdef PROF_HOSTED
    uint64_t tsc = *(volatile uint64_t *)&prof_loop_hosted_tsc;

    now = (struct prof_loop_reading){(uint32_t)tsc, (uint32_t)(tsc >> 32)};
#else
    __asm__ volatile("rdtsc" : "=a"(now.low), "=d"(now.high) : : "memory");
#endif
    return now;
}

static inline uint64_t prof_loop_whole(struct prof_loop_reading reading)
{
    return (uint64_t)reading.high << 32 | reading.low;
}

static inline uint64_t prof_loop_tsc(void)
{
    return prof_loop_whole(prof_loop_read());
}

typedef uint32_t __attribute__((may_alias)) prof_loop_half;

/* Whether there was an interrupt. On i386 the lower half says enough. */
static inline bool prof_loop_interrupted(void)
{
    bool any;

#ifdef __i386__
    __asm__ volatile("cmpl $0, %1"
                     : "=@ccnz"(any)
                     : "m"(*(prof_loop_half *)&prof_cpus[0].interrupt_cycles));
#else
    __asm__ volatile("cmpq $0, %1"
                     : "=@ccnz"(any)
                     : "m"(prof_cpus[0].interrupt_cycles));
#endif
    return any;
}

/* The time in interrupts so far. Contexts: interrupts off. */
static inline uint64_t prof_loop_away(void)
{
    return prof_cpus[0].interrupt_cycles + prof_cpus[0].taken_cycles;
}

#endif
