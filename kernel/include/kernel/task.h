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
 * A new task runs at once, until it awaits a pending promise; then the code
 * that started or woke it continues. The event loop of the task's CPU wakes it
 * when nothing else runs there: tasks do not preempt each other between awaits.
 * So a task MUST NOT run for long: meanwhile no timer, device or other task of
 * its CPU is served, and on CPU 0 the profiler does not drain. The timer
 * interrupt samples it nevertheless.
 *
 * A task that touches the page below its stack ends the image; the panic names
 * the task. A task takes the memory of its stack, of which at least a page less
 * a few hundred bytes is usable, and of a promise. Buffers on the stack of a
 * task MUST NOT be passed to devices.
 *
 * errno is shared by all tasks, and may change while a task waits.
 *
 * Contexts: thread.
 */

#include <kernel/promise.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The function of a task. Its result becomes the value of the task's
 * promise. */
typedef uintptr_t task_function(void *context);

#define TASK_STACK_DEFAULT (16u * 1024u)
#define TASK_STACK_MIN (4u * 1024u)
#define TASK_STACK_MAX (256u * 1024u)

/*
 * Starts a task that calls (function) with (context). (name) is a constant
 * string. Returns the promise of its result; NULL: no memory. If the promise is
 * cancelled, the task's current await, or the next one that has to wait,
 * returns PROMISE_CANCELLED; only once, so that the task can release its
 * resources.
 */
#define task_start(name, function, context)                                    \
    task_start_at(PROMISE_HERE(name), function, context, TASK_STACK_DEFAULT)

/* Like task_start(), with a stack of (stack_bytes) bytes, rounded up to a power
 * of two. */
#define task_start_sized(name, function, context, stack_bytes)                 \
    task_start_at(PROMISE_HERE(name), function, context, stack_bytes)
struct promise *task_start_at(struct prof_trace_name *site,
                              task_function *function, void *context,
                              size_t stack_bytes);

/*
 * Waits until (promise) is completed, frees it and returns its result. If the
 * task is cancelled meanwhile, (promise) is cancelled, too.
 *
 * Outside a task, runs the event loop meanwhile. In a callback of the loop this
 * is impossible, and the result is a failure.
 */
struct promise_result task_await(struct promise *promise);

/* Like task_await(), but (promise) remains the caller's, and is never
 * cancelled. */
struct promise_result task_wait(struct promise *promise);

/* Lets everything else run that is ready. Outside a task: runs one turn of the
 * loop. */
void task_yield(void);

/* For `return task_fail("reason");` in a task, which makes its promise fail. */
#define task_fail(reason) task_fail_for(PROMISE_HERE(reason))
uintptr_t task_fail_for(struct prof_trace_name *why);

/* Returns whether the promise of the current task was cancelled. */
bool task_is_cancelled(void);

/* Returns the name of the current task; NULL outside a task. */
const char *task_name(void);

/* Counts of all CPUs together. */
struct task_stats {
    uint64_t started;     /* tasks started since boot */
    uint64_t switches;    /* switches to a task */
    uint32_t live;        /* tasks that have not ended */
    uint32_t stacks;      /* stacks, in use and free */
    uint64_t stack_bytes; /* RAM in these stacks, which is never returned */
};
struct task_stats task_stats(void);

#ifdef __cplusplus
}
#endif

#endif
