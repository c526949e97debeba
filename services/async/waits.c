/* SPDX-License-Identifier: Apache-2.0 */
/* Demos that wait for time, for each other, and for the console. */

#include "demo.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/sync.h>
#include <kernel/task.h>
#include <prof/trace.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct promise *sleep_once(void)
{
    return promise_sleep(100 * NS_PER_MS);
}

static struct promise *sleep_again(void *context, uintptr_t value)
{
    (void)context;
    (void)value;
    return promise_sleep(30 * NS_PER_MS);
}

static struct promise *sleep_twice(void)
{
    return promise_bind(promise_sleep(30 * NS_PER_MS), sleep_again, NULL);
}

static struct promise *join_three(void)
{
    struct promise *const sleeps[] = {
        promise_sleep(60 * NS_PER_MS),
        promise_sleep(20 * NS_PER_MS),
        promise_sleep(40 * NS_PER_MS),
    };

    return promise_join(sleeps, COUNT(sleeps), NULL);
}

/* The other two go on after the choice, and this waits for them, so that they
 * can be seen. */
static uintptr_t choose_and_wait(void *context)
{
    struct promise *const sleeps[] = {
        promise_sleep(60 * NS_PER_MS),
        promise_sleep(20 * NS_PER_MS),
        promise_sleep(40 * NS_PER_MS),
    };

    (void)context;
    task_await(promise_choose(sleeps, COUNT(sleeps)));
    task_await(promise_sleep(60 * NS_PER_MS));
    return 0;
}

static struct promise *choose_one(void)
{
    return task_start("choose and wait", choose_and_wait, NULL);
}

static struct promise *pick_one(void)
{
    struct promise *const sleeps[] = {
        promise_sleep(60 * NS_PER_MS),
        promise_sleep(20 * NS_PER_MS),
        promise_sleep(40 * NS_PER_MS),
    };

    return promise_pick(sleeps, COUNT(sleeps));
}

static struct promise *fail(void *context, uintptr_t value)
{
    (void)context;
    (void)value;
    return promise_failed(PROMISE_HERE("oops"));
}

static struct promise *handle(void *context, struct prof_trace_name *why)
{
    (void)context;
    console_line("async: caught: %s", why->text);
    return promise_of(0);
}

static struct promise *catch_failure(void)
{
    struct promise *sleep = promise_sleep(20 * NS_PER_MS);

    return promise_catch(promise_bind(sleep, fail, NULL), handle, NULL);
}

/*
 * The console. One task writes lines to a mailbox as fast as there is room in
 * it, the other takes them out and prints them; after each LINES_IN_FIFO of
 * them it waits for the wire to catch up.
 */

#define LINES 60u
#define LINES_IN_FIFO 12u
#define LINE_BYTES 6u

static struct mailbox lines = {.capacity = 8};

static uintptr_t print_lines(void *context)
{
    (void)context;
    for (unsigned i = 1; i <= LINES; i++) {
        struct promise_result line = task_await(mailbox_receive(&lines));

        if (line.state != PROMISE_RESOLVED)
            return task_fail_for(line.why);
        console_write((const char *)line.value, LINE_BYTES);
        if (i % LINES_IN_FIFO == 0)
            task_await(promise_sleep(5 * NS_PER_MS));
    }
    return 0;
}

static uintptr_t write_lines(void *context)
{
    static PROF_TRACE_COUNTER(sent, "bytes sent");
    struct promise *printer = task_start("print lines", print_lines, NULL);

    (void)context;
    for (unsigned i = 1; i <= LINES; i++) {
        task_await(mailbox_send(&lines, (uintptr_t) "XXXXX\n"));
        prof_trace_counter_add(&sent, LINE_BYTES);
    }
    task_await(printer);
    return LINES * LINE_BYTES;
}

static struct promise *write_console(void)
{
    return task_start("write lines", write_lines, NULL);
}

/* clang-format off */
const struct demo demo_waits[] = {
    {"sleep", "one sleep", sleep_once},
    {"series", "two sleeps, one after the other", sleep_twice},
    {"join", "wait for all of three sleeps", join_three},
    {"choose", "wait for the first of three, the others go on", choose_one},
    {"pick", "wait for the first of three, cancel the others", pick_one},
    {"catch", "a failure that is caught", catch_failure},
    {"console", "60 lines through a mailbox, and a counter", write_console},
    {NULL, NULL, NULL},
};
/* clang-format on */
