/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TIMERS_H
#define KERNEL_TIMERS_H

/*
 * The armed timers, by due time; those due at the same time in the order in
 * which they were inserted. Contexts: thread.
 */

#include <kernel/timer.h>

/* The next one that is due, NULL if none is armed. */
struct loop_timer *timers_first(void);

/* Inserts (timer), which is in no queue. A constant number of steps. */
void timers_insert(struct loop_timer *timer);

/* Removes (timer), which was inserted. In the mean logarithmic in their
 * number. */
void timers_remove(struct loop_timer *timer);

#endif
