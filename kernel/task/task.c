/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks, and how they wait.
 *
 * A task that awaits something switches back to whoever resumed it: the loop,
 * or the one that has started it. So those that run are a chain, from the
 * current task over its resumer to the stack that the CPU began on, which is a
 * task here too, `root`, but to nobody else. A task stays on its CPU.
 *
 * The struct of a task is at the top of its stack, the highest address: an
 * overflow does not reach it, and there is nothing else to be allocated.
 */

#include <kernel/task.h>

#include "../panic_stacks.h"
#include "internal.h"
#include "stacks.h"
#include "trace.h"

#include <arch/boot.h>
#include <arch/context.h>
#include <arch/cpus.h>
#include <kernel/loop.h>
#include <prof/causal.h>
#include <prof/prof.h>

struct task {
    uintptr_t sp; /* while it does not run */
    struct stack stack;
    struct task *resumer;        /* while it runs: whom it switches back to */
    struct promise *promise;     /* of its result */
    struct promise_watch watch;  /* for what it awaits */
    struct promise_ready wakeup; /* after a yield, or when cancelled */
    task_function *function;
    void *context;
    struct prof_trace_name *why; /* it fails, if not NULL */
    struct prof_loop_task loop;
    bool waiting;     /* in task_wait() */
    bool interrupted; /* cancelled, and does not know yet */
    bool ended;
};

/* Of each CPU. */
static struct {
    struct task root;     /* not a task: the stack that the CPU began on */
    struct task *current; /* NULL: root, on a CPU that has had no task */
    struct promise_result root_result; /* what it has waited for */
    struct task_stats stats;
} cpus[ARCH_CPUS_MAX] = {{.current = &cpus[0].root}};

#define HERE (&cpus[arch_cpu_number()])

static struct task *current_task(void)
{
    if (ARCH_CPUS_MAX > 1 && HERE->current == NULL)
        return &HERE->root;
    return HERE->current;
}

static bool is_at_root(void)
{
    return current_task() == &HERE->root;
}

/* ---- switching */

static void switch_to(struct task *task)
{
    struct task *from = current_task();

    HERE->current = task;
    prof_causal_switch(task->stack.begin, task->stack.end);
    prof_stack_set(task->stack.begin, task->stack.end);
    arch_context_switch(&from->sp, task->sp);
}

/* The loop may have waited for a mutex that (task) has, or for its sleep; what
 * runs after it was not waited for. */
static void attribute_wait(const struct task *task)
{
    const char *lock = locks_name(promise_id(task->promise));

    if (lock != NULL)
        prof_causal_waited(PROF_LIMIT_LOCK, lock);
    else if (task->waiting && !task->interrupted &&
             task->watch.promise->producer->kind == PROF_TRACE_SLEEP)
        prof_causal_waited(PROF_LIMIT_TIME, promise_name(task->promise));
    prof_causal_wait_known();
}

/* Lets (task) run until it waits or ends. The loop must not be run meanwhile:
 * its callbacks are never nested. */
static void resume(struct task *task)
{
    const bool held = loop_hold(true);
    const void *kind = NULL;
    uint32_t before;

    if (prof_causal_running()) {
        kind = prof_causal_part((const void *)task->function);
        attribute_wait(task);
    }
    task->resumer = current_task();
    HERE->stats.switches++;
    before = task_trace_enter(task->promise, &task->loop);
    switch_to(task);
    task_trace_leave(before, &task->loop);
    (void)prof_handler_part(kind);
    loop_hold(held);
    if (task->ended)
        stack_give(&task->stack);
}

static void suspend(struct prof_trace_name *why)
{
    prof_trace_suspend(why);
    switch_to(current_task()->resumer);
}

static void on_awaited(struct promise_watch *watch)
{
    resume(LIST_OWNER(watch, struct task, watch));
}

static void on_wakeup(struct promise_ready *wakeup)
{
    resume(LIST_OWNER(wakeup, struct task, wakeup));
}

/* ---- beginning and end */

/* Whoever looks at a stack, such as a panic, finds the name even while its task
 * is being made or has ended. */
static bool find_task(uintptr_t address, struct panic_stack *found)
{
    static const char none[] = "(none)";
    struct stack stack;
    const struct task *task;

    if (!stack_find(address, &stack))
        return false;
    task = (const struct task *)stack.end - 1;
    *found = (struct panic_stack){stack.begin, stack.end, none};
    if (task->stack.end == stack.end && !task->ended && task->promise != NULL)
        found->name = promise_name(task->promise);
    return true;
}

static void on_cancel(struct promise *promise, void *context)
{
    struct task *task = context;

    (void)promise;
    task->interrupted = true;
    if (!task->waiting)
        return;
    promise_unwatch(&task->watch);
    task_trace_wake(task->promise, &task->loop);
    promise_ready(&task->wakeup);
}

static const struct promise_producer producer = {
    .kind = PROF_TRACE_TASK,
    .cancel = on_cancel,
};

/* The first function on the stack of a task. */
static void task_main(void)
{
    struct task *task = current_task();
    const uintptr_t value = task->function(task->context);

    task_loop_end(&task->loop, task_is_cancelled() ? PROMISE_CANCELLED
                               : task->why != NULL ? PROMISE_FAILED
                                                   : PROMISE_RESOLVED);
    if (task->why != NULL)
        promise_fail_for(task->promise, task->why);
    else
        promise_resolve(task->promise, value);
    HERE->stats.live--;
    task->ended = true;
    switch_to(task->resumer);
}

/* That which this CPU began on. */
static struct stack first_stack(void)
{
#if ARCH_CPUS_MAX > 1
    struct arch_region stack;

    if (arch_cpu_stack((uintptr_t)__builtin_frame_address(0), &stack))
        return (struct stack){stack.begin, stack.end};
#endif
    return (struct stack){(uintptr_t)boot_stack_bottom,
                          (uintptr_t)boot_stack_top};
}

static void start_root(void)
{
    struct task *root = &HERE->root;

    if (root->stack.end != 0)
        return;
    root->stack = first_stack();
    panic_find_stack = find_task;
}

struct promise *task_start_at(struct prof_trace_name *site,
                              task_function *function, void *context,
                              size_t stack_bytes)
{
    struct stack stack;
    struct task *task;
    struct promise *promise;

    start_root();
    if (!stack_take(stack_bytes, &stack))
        return NULL;
    task = (struct task *)stack.end - 1;
    promise = promise_new_at(site, &producer, task);
    if (promise == NULL) {
        stack_give(&stack);
        return NULL;
    }
    *task = (struct task){
        .stack = stack,
        .promise = promise,
        .watch.completed = on_awaited,
        .wakeup.run = on_wakeup,
        .function = function,
        .context = context,
    };
    task->watch.object = promise->trace;
    task->watch.loop = &task->loop;
    task_loop_create(&task->loop, promise);
    task->sp = arch_context_new((uintptr_t)task & ~(uintptr_t)15, task_main);
    HERE->stats.started++;
    HERE->stats.live++;
    resume(task);
    return promise;
}

/* ---- what a task calls */

static void on_root(struct promise_watch *watch)
{
    task_trace_read(watch->promise);
    HERE->root_result = promise_result(watch->promise);
    watch->promise = NULL;
}

/* On the stack that the CPU began on; in a callback of the loop it fails. */
static struct promise_result run_loop_for(struct promise *promise)
{
    static PROF_TRACE_NAME(callback, "awaited in a callback of the loop");
    struct task *root = &HERE->root;

    if (loop_hold(true)) {
        promise_misused(promise, "was awaited in a callback of the loop", NULL);
        return (struct promise_result){.state = PROMISE_FAILED,
                                       .why = &callback};
    }
    loop_hold(false);
    root->watch.completed = on_root;
    task_trace_try_read(promise);
    promise_watch(promise, &root->watch);
    while (root->watch.promise != NULL)
        loop_wait();
    return HERE->root_result;
}

/* Until (promise) is completed, or the task is cancelled: false. */
static bool wait_for(struct promise *promise)
{
    struct task *task = current_task();

    task_trace_try_read(promise);
    if (!task->interrupted) {
        task->waiting = true;
        promise_watch(promise, &task->watch);
        suspend(promise->site);
        task->waiting = false;
    }
    if (!task->interrupted)
        return true;
    task->interrupted = false;
    return false;
}

struct promise_result task_wait(struct promise *promise)
{
    static PROF_TRACE_NAME(elsewhere, "of another CPU");

    if (promise != NULL && !promise_is_here(promise))
        return (struct promise_result){.state = PROMISE_FAILED,
                                       .why = &elsewhere};
    if (promise_state(promise) == PROMISE_PENDING) {
        if (is_at_root())
            return run_loop_for(promise);
        if (!wait_for(promise))
            return (struct promise_result){.state = PROMISE_CANCELLED,
                                           .why = &promise_cancelled};
    }
    task_trace_read(promise);
    return promise_result(promise);
}

struct promise_result task_await(struct promise *promise)
{
    const struct promise_result result = task_wait(promise);

    promise_discard(promise);
    return result;
}

void task_yield(void)
{
    static PROF_TRACE_NAME(yields, "yields");

    if (is_at_root()) {
        loop_poll();
        return;
    }
    promise_ready(&current_task()->wakeup);
    task_trace_wake(current_task()->promise, &current_task()->loop);
    suspend(&yields);
}

uintptr_t task_fail_for(struct prof_trace_name *why)
{
    current_task()->why = why;
    return 0;
}

uint32_t task_id(void)
{
    const struct task *task = current_task();

    return task->promise == NULL ? 0 : promise_id(task->promise);
}

bool task_is_cancelled(void)
{
    return promise_state(current_task()->promise) == PROMISE_CANCELLED;
}

const char *task_name(void)
{
    return is_at_root() ? NULL : promise_name(current_task()->promise);
}

struct task_stats task_stats(void)
{
    struct task_stats all = {0};

    for (unsigned i = 0; i < ARCH_CPUS_MAX; i++) {
        all.started += cpus[i].stats.started;
        all.switches += cpus[i].stats.switches;
        all.live += cpus[i].stats.live;
    }
    all.stacks = stack_count(&all.stack_bytes);
    return all;
}
