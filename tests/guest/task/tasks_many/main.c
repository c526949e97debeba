/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 100,000 tasks at the same time, each with something on its stack, which all
 * wait for one promise; and as many more as there is memory for.
 */

#include "guest/tap.h"

#include <kernel/service.h>
#include <kernel/task.h>

#define TASKS 100000u

static const struct promise_producer producer = {.kind = PROF_TRACE_OTHER};
static struct promise *gate;
static uint64_t sum;

static uintptr_t one(void *context)
{
    volatile uintptr_t number = (uintptr_t)context;

    task_wait(gate);
    sum += number;
    return 0;
}

static unsigned start(unsigned most)
{
    for (unsigned i = 0; i < most; i++) {
        struct promise *task = task_start_sized(
            "one of many", one, (void *)(uintptr_t)(i + 1), TASK_STACK_MIN);

        if (task == NULL)
            return i;
        promise_free(task);
    }
    return most;
}

static void open_gate(void)
{
    promise_resolve(gate, 0);
    while (task_stats().live != 0)
        task_yield();
    promise_free(gate);
}

int service_main(void)
{
    struct task_stats stats;
    unsigned more;

    tap_plan(7);
    gate = promise_new(&producer, NULL, "gate");
    tap_is_equal(start(TASKS), TASKS, "100,000 tasks start");
    stats = task_stats();
    tap_is_equal(stats.live, TASKS, "and live at the same time");
    tap_is_equal((long long)(stats.stack_bytes / stats.live), TASK_STACK_MIN,
                 "each has one page");
    tap_is_between(promise_stats().bytes / promise_stats().live, 1, 64,
                   "and at most 64 bytes for its promise");
    open_gate();
    tap_is_equal((long long)sum, TASKS * (TASKS + 1ll) / 2,
                 "all of them go on, with what was on their stacks");
    gate = promise_new(&producer, NULL, "gate");
    more = start(~0u);
    tap_note("memory for %u tasks", more);
    tap_ok(more > TASKS && task_stats().live == more,
           "where memory ends, a task is refused");
    open_gate();
    tap_is_equal(promise_stats().live, 0, "nothing is left of them");
    return tap_end();
}
