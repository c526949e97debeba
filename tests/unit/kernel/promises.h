/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_KERNEL_PROMISES_H
#define TESTS_UNIT_KERNEL_PROMISES_H

/*
 * What promises need of the kernel, for tests on the host: a loop whose time is
 * the test's, a heap that refuses one allocation, and a console whose
 * lines are counted. To be included once.
 */

#include "../unit.h"

#include "../../../kernel/task/internal.h"

#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/task.h>

/* ---- tasks: there are none, but for experiments */

static uint32_t running_task;

uint32_t task_id(void)
{
    return running_task;
}

/* ---- the heap */

static long refuse_at = -1; /* number of the allocation; -1: none */
static unsigned blocks;     /* allocated */

void *task_alloc(size_t bytes)
{
    if (refuse_at >= 0 && refuse_at-- == 0)
        return NULL;
    blocks++;
    return malloc(bytes);
}

void task_free(void *block)
{
    if (block != NULL)
        blocks--;
    free(block);
}

/* ---- the console */

static char last_line[256];
static unsigned lines;

void console_line(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(last_line, sizeof last_line, format, arguments);
    va_end(arguments);
    lines++;
}

/* ---- the loop */

static struct loop_source *sources;
static struct loop_timer *timers; /* in the order in which they are due */
static uint64_t now_ns;

void loop_add(struct loop_source *added)
{
    added->next = sources;
    sources = added;
}

void loop_once_at(struct prof_trace_name *site, struct loop_timer *timer,
                  uint64_t delay_ns, loop_callback *callback, void *context)
{
    struct loop_timer **link = &timers;

    (void)site;
    *timer = (struct loop_timer){
        .due_ns = now_ns + delay_ns, .callback = callback, .context = context};
    while (*link != NULL && (*link)->due_ns <= timer->due_ns)
        link = &(*link)->sibling;
    timer->sibling = *link;
    *link = timer;
}

void loop_cancel(struct loop_timer *timer)
{
    for (struct loop_timer **link = &timers; *link != NULL;
         link = &(*link)->sibling)
        if (*link == timer) {
            *link = timer->sibling;
            return;
        }
}

/* A turn of all sources. False: there was nothing to do. */
static inline bool turn_once(void)
{
    bool any = false;

    for (struct loop_source *each = sources; each != NULL; each = each->next)
        if (each->waiting()) {
            each->turn();
            any = true;
        }
    return any;
}

/* Until there is nothing to do. */
static inline void turn_all(void)
{
    while (turn_once())
        ;
}

/* The same, and lets (ns) pass. */
static inline void pass(uint64_t ns)
{
    const uint64_t until = now_ns + ns;

    turn_all();
    while (timers != NULL && timers->due_ns <= until) {
        struct loop_timer *timer = timers;

        timers = timer->sibling;
        now_ns = timer->due_ns;
        timer->callback(timer->context);
        turn_all();
    }
    now_ns = until;
}

/* ---- a producer that does nothing by itself */

static unsigned cancels, ends, ends_read;

static void on_cancel(struct promise *promise, void *context)
{
    (void)context;
    cancels++;
    promise_stop(promise);
}

static void on_ended(void *context, uintptr_t value, bool read)
{
    (void)context;
    (void)value;
    ends++;
    ends_read += read;
}

static const struct promise_producer manual = {
    .kind = PROF_TRACE_OTHER,
    .cancel = on_cancel,
    .ended = on_ended,
};

static inline struct promise *pending(void)
{
    return promise_new(&manual, NULL, "pending");
}

/* Begins a test: nothing has happened. */
static inline void fresh(void)
{
    refuse_at = -1;
    cancels = ends = ends_read = lines = 0;
    last_line[0] = '\0';
}

#endif
