/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which mutexes somebody waits for, in causal experiments. If the loop has
 * waited, and the task that goes on has such a mutex, that is what those who
 * want it have waited for. There are no experiments of several CPUs, and so the
 * list is CPU 0's.
 *
 * A mutex is watched from the first wait on, so that one that nobody ever waits
 * for costs nothing. Who has it then is not known before it has changed hands.
 */

#include "internal.h"

#include <kernel/sync.h>
#include <prof/causal.h>

static struct mutex *waited_for;

static bool is_listed(const struct mutex *mutex)
{
    const struct mutex *each = waited_for;

    while (each != NULL && each != mutex)
        each = each->next;
    return each != NULL;
}

void locks_wait(struct mutex *mutex, const char *name)
{
    if (is_listed(mutex))
        return;
    if ((mutex->watched & MUTEX_BY_LOCKS) == 0)
        mutex->owner = 0;
    if (mutex->name == NULL)
        mutex->name = name;
    mutex->watched |= MUTEX_BY_LOCKS;
    mutex->next = waited_for;
    waited_for = mutex;
}

void locks_look(struct mutex *mutex)
{
    struct mutex **link = &waited_for;

    if (!list_empty(&mutex->waiters))
        return;
    while (*link != NULL && *link != mutex)
        link = &(*link)->next;
    if (*link != NULL)
        *link = mutex->next;
}

/* After the experiments it is no longer watched, once nobody waits for it. */
void locks_hold(struct mutex *mutex, uint32_t task)
{
    mutex->owner = task;
    locks_look(mutex);
    if (!prof_causal_running() && list_empty(&mutex->waiters))
        mutex->watched &= (uint8_t)~MUTEX_BY_LOCKS;
}

const char *locks_name(uint32_t task)
{
    const struct mutex *each = waited_for;

    while (each != NULL && each->owner != task)
        each = each->next;
    return each == NULL ? NULL : each->name;
}
