/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TIMERS_H
#define KERNEL_TIMERS_H

/*
 * The armed timers, by due time; those due at the same time in the order in
 * which they were inserted. Contexts: thread.
 */

#include <kernel/timer.h>

extern struct loop_timer *timers_root; /* written by timers.c only */

/* The next one that is due, NULL if none is armed. */
static inline struct loop_timer *timers_first(void)
{
    return timers_root;
}

/* Inserts (timer), which is in no queue. A constant number of steps. */
void timers_insert(struct loop_timer *timer);

/* Removes (timer), which was inserted. In the mean logarithmic in their
 * number. */
void timers_remove(struct loop_timer *timer);

#endif
