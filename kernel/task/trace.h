/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TASK_TRACE_H
#define KERNEL_TASK_TRACE_H

/*
 * What the trace, and the statistics of the event loop, learn of promises and
 * tasks: all calls of <prof/trace.h> and <prof/loop.h> are here, except for
 * requests to the disk (disk.c). A task and the promise of its result are one
 * object.
 *
 * To <prof/loop.h> whatever continues when a promise is completed is a task:
 * the tasks themselves, and what waits in a bind, a catch or a group. All other
 * promises are primitive futures to it.
 */

#include "internal.h"

#include <prof/loop.h>
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

/* A task whose promise is cancelled, or freed while awaited, goes on until it
 * returns; so its object ends then, and not before. */
static inline bool task_trace_goes_on(const struct promise *promise)
{
    return promise->producer->kind == PROF_TRACE_TASK &&
           (promise->flags & PROMISE_PRODUCED) != 0;
}

static inline void task_trace_cancel(const struct promise *promise)
{
    if ((promise->flags & PROMISE_BECAME) == 0 && !task_trace_goes_on(promise))
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

/* What continues with (promise) is (loop), which is all zero. */
static inline void task_loop_create(struct prof_loop_task *loop,
                                    const struct promise *promise)
{
    prof_loop_create(loop, promise->site,
                     prof_trace_is_on() ? promise->trace : promise->id);
}

static inline enum prof_loop_end task_loop_how(enum promise_state state)
{
    return state == PROMISE_RESOLVED ? PROF_LOOP_RESOLVED
           : state == PROMISE_FAILED ? PROF_LOOP_FAILED
                                     : PROF_LOOP_CANCELLED;
}

/* It has ended, and its promise is, or will be, in (state). */
static inline void task_loop_end(struct prof_loop_task *loop,
                                 enum promise_state state)
{
    prof_loop_end(loop, task_loop_how(state));
}

/* Whether (promise) is a primitive future: nothing that continues makes it, but
 * a timer, a device or another task. */
static inline bool task_is_future(const struct promise *promise)
{
    static const uint32_t tasks =
        1u << PROF_TRACE_TASK | 1u << PROF_TRACE_BIND | 1u << PROF_TRACE_CATCH |
        1u << PROF_TRACE_JOIN | 1u << PROF_TRACE_CHOOSE |
        1u << PROF_TRACE_PICK | 1u << PROF_TRACE_TIMEOUT;

    return (tasks >> promise->producer->kind & 1) == 0;
}

/* (promise) is pending from now on, or was until now. */
static inline void task_future_create(const struct promise *promise)
{
    if (prof_loop_has_calls() && task_is_future(promise))
        prof_loop_future(promise->site, promise->id);
}

static inline void task_future_end(const struct promise *promise,
                                   enum promise_state state)
{
    if (prof_loop_has_calls() && task_is_future(promise))
        prof_loop_future_end(promise->site, promise->id, task_loop_how(state));
}

/* The task of (promise) runs from now on. Returns who ran before, for
 * task_trace_leave(). */
static inline uint32_t task_trace_enter(const struct promise *promise,
                                        struct prof_loop_task *loop)
{
    const uint32_t before = prof_trace_current();

    prof_trace_switch(promise->trace);
    prof_loop_run(loop);
    return before;
}

static inline void task_trace_leave(uint32_t before,
                                    struct prof_loop_task *loop)
{
    prof_loop_pause(loop);
    prof_trace_switch(before);
}

/* The same of a callback, that of (promise). What continues may end in it. */
struct task_trace_callback {
    uint32_t before;
    struct prof_loop_frame frame;
};

static inline void task_trace_begin(struct task_trace_callback *callback,
                                    const struct promise *promise,
                                    struct prof_loop_task *loop)
{
    callback->before = prof_trace_current();
    prof_trace_switch(promise->trace);
    prof_loop_begin_for(&callback->frame, loop);
}

static inline void task_trace_return(struct task_trace_callback *callback)
{
    prof_loop_leave(&callback->frame);
    prof_trace_switch(callback->before);
}

/* (watch) is to be called, because (promise) is completed. */
static inline void task_trace_woken(const struct promise_watch *watch,
                                    const struct promise *promise)
{
    if (watch->object != PROF_TRACE_NONE)
        prof_trace_wake(watch->object, promise->trace);
    if (watch->loop != NULL)
        prof_loop_wake(watch->loop);
}

/* The task of (promise) may go on, by itself. */
static inline void task_trace_wake(const struct promise *promise,
                                   struct prof_loop_task *loop)
{
    prof_trace_wake(promise->trace, PROF_TRACE_NONE);
    prof_loop_wake(loop);
}

/* The current task reads the result of a promise, or finds that it is pending
 * and has to wait. */
static inline void task_trace_read(const struct promise *promise)
{
    if (promise != NULL && task_trace_goes_on(promise))
        prof_trace_try_read(promise->trace);
    else
        prof_trace_read(task_trace_id(promise));
}

static inline void task_trace_try_read(const struct promise *promise)
{
    prof_trace_try_read(promise->trace);
}

/* (promise) waits for (source), or for an object that is no promise. */
static inline void task_trace_awaits(const struct promise *promise,
                                     const struct promise *source)
{
    prof_trace_await(promise->trace, source->trace);
}

static inline void task_trace_awaits_object(const struct promise *promise,
                                            uint32_t object)
{
    if (object != PROF_TRACE_NONE)
        prof_trace_await(promise->trace, object);
}

/* Makes *(object) an object, unless it is one. True: it is new. */
static inline bool task_trace_object(uint32_t *object,
                                     enum prof_trace_kind kind,
                                     struct prof_trace_name *site)
{
    if (*object != PROF_TRACE_NONE && *object != PROF_TRACE_UNKNOWN)
        return false;
    *object = prof_trace_create(kind, site);
    return true;
}

#endif
