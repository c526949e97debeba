/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_CPU_NUMBER_H
#define ARCH_CPU_NUMBER_H

/*
 * Which CPU this is. An image is built for one CPU, where that is known, or for
 * up to 64 (make CPUS=4), where the task register says it: each CPU has a task
 * state with a selector of its own.
 */

#include <stdint.h>

#ifndef ARCH_CPUS_MAX
#define ARCH_CPUS_MAX 1
#endif

#if ARCH_CPUS_MAX == 1

static inline unsigned arch_cpu_number(void)
{
    return 0;
}

#else

/* Selectors of CPU n are n times 16 further than those of CPU 0: its task
 * state, and on i386 another one, for double faults. */
#define ARCH_CPU_TASK_FIRST 0x18u
#define ARCH_CPU_TASK_SHIFT 4

/* The number of the CPU that this runs on, from 0 on. Contexts: any, after
 * arch start-up. */
static inline unsigned arch_cpu_number(void)
{
    uint32_t selector;

    __asm__ volatile("str %0" : "=r"(selector));
    return (selector - ARCH_CPU_TASK_FIRST) >> ARCH_CPU_TASK_SHIFT;
}

#endif

#endif
