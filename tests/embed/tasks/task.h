/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_TASK_H
#define EMBED_TASK_H

/* Tasks with stacks of their own, on one CPU, without preemption. */

#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

#define TASK_STACK_BYTES 8192

struct task {
    const char *name;
    uint32_t *sp;
    uint64_t wake_at; /* sleeps until then; 0: does not sleep */
    bool ready;
    uint32_t trace;
    struct prof_trace_name site;
    struct prof_loop_task loop;
    _Alignas(16) unsigned char stack[TASK_STACK_BYTES];
};

/* Creates a task that calls (function), which MUST NOT return. */
void task_create(struct task *task, const char *name, void (*function)(void));

/* The current task waits until it is woken, or until (cycles) have passed. */
void task_wait(void);
void task_sleep(uint64_t cycles);
void task_wake(struct task *task);

/* Runs tasks that are ready, each until it waits. False: there was none. */
bool task_run_all(void);

/* Cycles of the time stamp counter. */
uint64_t kernel_time(void);

#endif
