/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutexes and condition variables. A signal moves a waiter from the queue of
 * the condition to that of its mutex. A waiter exists until its promise has
 * ended, which is how a lock that nobody has noticed is passed on.
 */

#include "internal.h"
#include "trace.h"

#include <kernel/sync.h>
#include <prof/causal.h>

struct waiter {
    struct promise_link link;
    struct promise *own; /* produced here */
    struct mutex *mutex;
    uint32_t asker; /* for the trace: who will have it */
    uint32_t task;  /* the same for causal experiments (locks.c) */
};

static void prepare(struct promise_link *queue)
{
    if (queue->next == NULL)
        list_init(queue);
}

static void on_cancel(struct promise *own, void *context)
{
    struct waiter *waiter = context;

    list_remove(&waiter->link);
    if ((waiter->mutex->watched & MUTEX_BY_LOCKS) != 0)
        locks_look(waiter->mutex);
    task_free(waiter);
    promise_stop(own);
}

static void on_ended(void *context, uintptr_t value, bool read)
{
    struct waiter *waiter = context;

    (void)value;
    if (!read)
        mutex_unlock(waiter->mutex);
    task_free(waiter);
}

static const struct promise_producer mutex_producer = {
    .kind = PROF_TRACE_MUTEX,
    .cancel = on_cancel,
    .ended = on_ended,
};
static const struct promise_producer condition_producer = {
    .kind = PROF_TRACE_CONDITION,
    .cancel = on_cancel,
    .ended = on_ended,
};

static struct waiter *new_waiter(struct prof_trace_name *site,
                                 const struct promise_producer *producer,
                                 struct mutex *mutex)
{
    struct waiter *waiter = task_alloc(sizeof *waiter);

    if (waiter == NULL)
        return NULL;
    *waiter = (struct waiter){
        .own = promise_new_at(site, producer, waiter),
        .mutex = mutex,
        .asker = prof_trace_current(),
        .task = prof_causal_running() ? task_id() : 0,
    };
    if (waiter->own != NULL)
        return waiter;
    task_free(waiter);
    return NULL;
}

/* To the trace a mutex is an object once somebody waits for it, and itself
 * waits for who has it. */
static void trace_waiter(struct mutex *mutex, const struct waiter *waiter)
{
    static PROF_TRACE_SITE(site, "mutex");

    if (!prof_trace_is_on())
        return;
    if (task_trace_object(&mutex->trace, PROF_TRACE_MUTEX, &site) ||
        (mutex->watched & MUTEX_BY_TRACE) == 0)
        prof_trace_await(mutex->trace, mutex->holder);
    mutex->watched |= MUTEX_BY_TRACE;
    prof_trace_await(waiter->own->trace, mutex->trace);
}

__attribute__((noinline)) static void report_holder(struct mutex *mutex,
                                                    uint32_t task)
{
    if ((mutex->watched & MUTEX_BY_TRACE) != 0)
        prof_trace_await(mutex->trace, mutex->holder);
    if (mutex->holder == PROF_TRACE_NONE)
        mutex->watched &= (uint8_t)~MUTEX_BY_TRACE;
    if ((mutex->watched & MUTEX_BY_LOCKS) != 0)
        locks_hold(mutex, task);
}

/* Both are 0 if nobody has it. */
static void set_holder(struct mutex *mutex, uint32_t holder, uint32_t task)
{
    mutex->holder = holder;
    if (__builtin_expect(mutex->watched != 0, 0))
        report_holder(mutex, task);
}

/* The lock goes to the first who still wants it. */
static void pass_on(struct mutex *mutex)
{
    struct promise_link *link;

    mutex->locked = true;
    while ((link = list_take(&mutex->waiters)) != NULL) {
        struct waiter *waiter = LIST_OWNER(link, struct waiter, link);
        const uint32_t asker = waiter->asker, task = waiter->task;

        if (promise_resolve(waiter->own, 0)) {
            set_holder(mutex, asker, task);
            return;
        }
        task_free(waiter);
    }
    mutex->locked = false;
    set_holder(mutex, PROF_TRACE_NONE, 0);
}

static void enqueue(struct waiter *waiter)
{
    struct mutex *mutex = waiter->mutex;

    prepare(&mutex->waiters);
    list_add(&mutex->waiters, &waiter->link);
    if (mutex->locked) {
        trace_waiter(mutex, waiter);
        if (prof_causal_running())
            locks_wait(mutex, waiter->own->site->text);
    } else {
        pass_on(mutex);
    }
}

struct promise *mutex_lock_at(struct prof_trace_name *site, struct mutex *mutex)
{
    struct waiter *waiter = new_waiter(site, &mutex_producer, mutex);
    struct promise *own;

    if (waiter == NULL)
        return NULL;
    own = waiter->own;
    enqueue(waiter);
    return own;
}

void mutex_unlock(struct mutex *mutex)
{
    if (mutex->locked)
        pass_on(mutex);
    else
        promise_misused(NULL, "a mutex that is not locked was unlocked", NULL);
}

struct promise *condition_wait_at(struct prof_trace_name *site,
                                  struct condition *condition,
                                  struct mutex *mutex)
{
    struct waiter *waiter = new_waiter(site, &condition_producer, mutex);

    if (waiter != NULL) {
        prepare(&condition->waiters);
        list_add(&condition->waiters, &waiter->link);
    }
    mutex_unlock(mutex);
    return waiter == NULL ? NULL : waiter->own;
}

void condition_signal(struct condition *condition)
{
    struct promise_link *link = list_take(&condition->waiters);

    if (link != NULL)
        enqueue(LIST_OWNER(link, struct waiter, link));
}

void condition_broadcast(struct condition *condition)
{
    while (!list_empty(&condition->waiters))
        condition_signal(condition);
}
