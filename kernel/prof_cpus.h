/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROF_CPUS_H
#define KERNEL_PROF_CPUS_H

/* Further CPUs and the profiler. With one CPU all of this is nothing. */

#include <arch/cpu_number.h>
#include <stdbool.h>
#include <stdint.h>

#if ARCH_CPUS_MAX == 1

static inline bool prof_cpus_are_several(void)
{
    return false;
}

static inline void prof_cpus_join(void)
{
}

static inline void prof_cpus_trace(void)
{
}

#else

/* Whether more than one runs. Contexts: any, after boot. */
bool prof_cpus_are_several(void);

/* Has the others join the profiler (<prof/cpus.h>), and returns when they have;
 * prints which could not. Contexts: boot, once, after prof_init(). */
void prof_cpus_join(void);

/* The recorder has begun: has the others say who runs. Contexts: thread, first
 * CPU. */
void prof_cpus_trace(void);

/* Has CPU (number) come to a turn of its loop. Contexts: any. */
void prof_cpus_kick(uint32_t number);

#endif

#endif
