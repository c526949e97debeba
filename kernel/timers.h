/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TIMERS_H
#define KERNEL_TIMERS_H

/*
 * The armed timers of each CPU, by due time; those due at the same time in the
 * order in which they were inserted. Contexts: thread, each CPU its own.
 */

#include <arch/cpu_number.h>
#include <kernel/timer.h>

/* Written by timers.c only. */
extern struct loop_timer *timers_roots[ARCH_CPUS_MAX];

/* The next one that is due, NULL if none is armed. */
static inline struct loop_timer *timers_first(void)
{
    return timers_roots[arch_cpu_number()];
}

/* Inserts (timer), which is in no queue. A constant number of steps. */
void timers_insert(struct loop_timer *timer);

/* Removes (timer), which was inserted. In the mean logarithmic in their
 * number. */
void timers_remove(struct loop_timer *timer);

#endif
