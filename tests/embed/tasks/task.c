/* SPDX-License-Identifier: Apache-2.0 */

#include "task.h"

#include <stddef.h>

#define TASKS 8

extern const char task_entry[];
void stack_switch(uint32_t **from, uint32_t *to);

static struct task *task_current;
static struct task *tasks[TASKS];
static unsigned task_count;
static uint32_t *scheduler_sp;

static PROF_TRACE_NAME(waiting, "waiting");

void task_create(struct task *task, const char *name, void (*function)(void))
{
    uint32_t *top = (uint32_t *)(task->stack + TASK_STACK_BYTES);

    *--top = 0;
    *--top = (uint32_t)task_entry;
    *--top = 0;                  /* ebp */
    *--top = (uint32_t)function; /* ebx */
    *--top = 0;
    *--top = 0;
    task->sp = top;
    task->name = name;
    tasks[task_count++] = task;
    task->site = (struct prof_trace_name){name, __FILE__, __LINE__, 0, 0};
    task->trace = prof_trace_create(PROF_TRACE_TASK, &task->site);
    prof_loop_create(&task->loop, &task->site, task->trace);
    task_wake(task);
}

void task_wake(struct task *task)
{
    task->wake_at = 0;
    if (task->ready)
        return;
    task->ready = true;
    prof_trace_wake(task->trace, prof_trace_current());
    prof_loop_wake(&task->loop);
}

void task_wait(void)
{
    task_current->ready = false;
    prof_trace_suspend(&waiting);
    stack_switch(&task_current->sp, scheduler_sp);
}

void task_sleep(uint64_t cycles)
{
    task_current->wake_at = kernel_time() + cycles;
    task_wait();
}

static void run(struct task *task)
{
    task_current = task;
    prof_trace_switch(task->trace);
    prof_loop_run(&task->loop);
    stack_switch(&scheduler_sp, task->sp);
    prof_loop_pause(&task->loop);
    prof_trace_switch(PROF_TRACE_NONE);
    task_current = NULL;
}

bool task_run_all(void)
{
    uint64_t now = kernel_time();
    bool any = false;

    for (unsigned i = 0; i < task_count; i++) {
        if (tasks[i]->wake_at != 0 && tasks[i]->wake_at <= now)
            task_wake(tasks[i]);
        if (tasks[i]->ready) {
            run(tasks[i]);
            any = true;
        }
    }
    return any;
}
