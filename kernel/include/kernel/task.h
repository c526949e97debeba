/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TASK_H
#define KERNEL_TASK_H

/*
 * Tasks: functions with a stack of their own, which wait for promises.
 *
 *     static uintptr_t wave(void *name)
 *     {
 *         struct promise_result slept =
 *             task_await(promise_sleep(100 * NS_PER_MS));
 *
 *         if (slept.state != PROMISE_RESOLVED)
 *             return task_fail_for(slept.why);
 *         printf("hello %s\n", (const char *)name);
 *         return 0;
 *     }
 *
 *     promise_free(task_start("wave", wave, "world"));
 *
 * A task runs at once, until it awaits what is pending; then whoever started or
 * woke it goes on. It is woken by the event loop, on its own CPU, when nothing
 * else runs there: between two awaits a task is never interrupted by another
 * one. So it MUST NOT take long: while a task runs no timer, device or other
 * task of its CPU is served, and the profiler, whose CPU is 0, does not drain.
 * The timer interrupt samples it all the same.
 *
 * A task that touches the page below its stack ends the image; the panic names
 * the task. Its memory is that of its stack, which has a page less a few
 * hundred bytes at least, and of a promise. Buffers on the stack of a task
 * cannot be given to devices.
 *
 * errno is common to all tasks, and may change while one waits.
 *
 * Contexts: thread.
 */

#include <kernel/promise.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a task does. Its result is the value of its promise. */
typedef uintptr_t task_function(void *context);

#define TASK_STACK_DEFAULT (16u * 1024u)
#define TASK_STACK_MIN (4u * 1024u)
#define TASK_STACK_MAX (256u * 1024u)

/*
 * Starts a task that calls (function) with (context). (name) is constant.
 * Returns the promise of its result; NULL: no memory. If that is cancelled, the
 * await that the task is in, or the next one that has to wait, returns
 * PROMISE_CANCELLED; only once, so that it can still release what it holds.
 */
#define task_start(name, function, context)                                    \
    task_start_at(PROMISE_HERE(name), function, context, TASK_STACK_DEFAULT)

/* The same with (stack_bytes), which are rounded up to a power of two. */
#define task_start_sized(name, function, context, stack_bytes)                 \
    task_start_at(PROMISE_HERE(name), function, context, stack_bytes)
struct promise *task_start_at(struct prof_trace_name *site,
                              task_function *function, void *context,
                              size_t stack_bytes);

/*
 * Waits until (promise) is completed, frees it and returns what it has become.
 * If the task is cancelled meanwhile, (promise) is too.
 *
 * Outside of a task it runs the event loop until then. In a callback of the
 * loop that is impossible: it fails.
 */
struct promise_result task_await(struct promise *promise);

/* The same, but (promise) remains the caller's, and is not cancelled. */
struct promise_result task_wait(struct promise *promise);

/* Lets everything else run that is ready. Outside of a task: a turn of the
 * loop. */
void task_yield(void);

/* For `return task_fail("reason");` in a task: its promise fails. */
#define task_fail(reason) task_fail_for(PROMISE_HERE(reason))
uintptr_t task_fail_for(struct prof_trace_name *why);

/* Whether the promise of the current task was cancelled. */
bool task_is_cancelled(void);

/* Name of the current task, NULL outside of one. */
const char *task_name(void);

/* Of all CPUs. */
struct task_stats {
    uint64_t started;     /* since boot */
    uint64_t switches;    /* to a task */
    uint32_t live;        /* started and not ended */
    uint32_t stacks;      /* in use and free ones */
    uint64_t stack_bytes; /* of RAM in these, which are never given back */
};
struct task_stats task_stats(void);

#ifdef __cplusplus
}
#endif

#endif
