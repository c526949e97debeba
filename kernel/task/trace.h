/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TASK_TRACE_H
#define KERNEL_TASK_TRACE_H

/*
 * What the trace learns of promises and tasks: all calls of <prof/trace.h> are
 * here, except for requests to the disk (disk.c). A task and the promise of its
 * result are one object.
 */

#include "internal.h"

#include <prof/trace.h>

static inline uint32_t task_trace_id(const struct promise *promise)
{
    return promise == NULL ? PROF_TRACE_NONE : promise->trace;
}

/* (promise) was made by the current task. */
static inline void task_trace_create(struct promise *promise)
{
    promise->trace = prof_trace_create(promise->producer->kind, promise->site);
}

/* The current task completes it. */
static inline void task_trace_complete(const struct promise *promise,
                                       const struct promise_result *result)
{
    if (!prof_trace_is_on() || (promise->flags & PROMISE_BECAME) != 0)
        return;
    if (result->state == PROMISE_RESOLVED)
        prof_trace_resolve(promise->trace);
    else if (result->state == PROMISE_FAILED)
        prof_trace_fail(promise->trace, result->why);
    else
        prof_trace_cancel(promise->trace);
}

static inline void task_trace_cancel(const struct promise *promise)
{
    if ((promise->flags & PROMISE_BECAME) == 0)
        prof_trace_cancel(promise->trace);
}

/* (promise) will be what (source) is, which is completed once for both. */
static inline void task_trace_becomes(struct promise *promise,
                                      const struct promise *source)
{
    prof_trace_becomes(promise->trace, task_trace_id(source));
    promise->trace = task_trace_id(source);
    promise->flags |= PROMISE_BECAME;
}

/* The task or callback of (promise) runs from now on. Returns who ran before,
 * for task_trace_leave(). */
static inline uint32_t task_trace_enter(const struct promise *promise)
{
    const uint32_t before = prof_trace_current();

    prof_trace_switch(promise->trace);
    return before;
}

static inline void task_trace_leave(uint32_t before)
{
    prof_trace_switch(before);
}

/* (watch) is to be called, because (promise) is completed. */
static inline void task_trace_woken(const struct promise_watch *watch,
                                    const struct promise *promise)
{
    if (watch->object != PROF_TRACE_NONE)
        prof_trace_wake(watch->object, promise->trace);
}

/* The task of (promise) may go on, by itself. */
static inline void task_trace_wake(const struct promise *promise)
{
    prof_trace_wake(promise->trace, PROF_TRACE_NONE);
}

/* The current task reads the result of a promise, or finds that it is pending
 * and has to wait. */
static inline void task_trace_read(const struct promise *promise)
{
    prof_trace_read(task_trace_id(promise));
}

static inline void task_trace_try_read(const struct promise *promise)
{
    prof_trace_try_read(promise->trace);
}

#endif
