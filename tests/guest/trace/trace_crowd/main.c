/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many tasks, which all wait for one promise, while the recorder is on; and one
 * that counts. tests/recorder reads what comes out.
 *
 * Options: crowd=TASKS, ms=MILLISECONDS that they wait. A flight recorder is
 * dumped after that.
 */

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/service.h>
#include <kernel/task.h>
#include <prof/prof.h>
#include <prof/trace.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 500u /* then the recorder is drained */
#define COUNT_NS (2 * NS_PER_MS)

static const struct promise_producer producer = {.kind = PROF_TRACE_OTHER};
static unsigned long crowd = 100, ms = 100;
static struct promise *gate;
static uint64_t sum;
static bool over;

bool service_option(const char *key, const char *value)
{
    unsigned long *number = strcmp(key, "crowd") == 0 ? &crowd
                            : strcmp(key, "ms") == 0  ? &ms
                                                      : NULL;

    if (number != NULL)
        *number = strtoul(value, NULL, 10);
    return number != NULL;
}

static uintptr_t wait(void *number)
{
    task_wait(gate);
    sum += (uintptr_t)number;
    return 0;
}

static uintptr_t count(void *unused)
{
    static PROF_TRACE_NAME(laps, "laps");

    (void)unused;
    for (int64_t lap = 1; !over; lap++) {
        prof_trace_counter(&laps, lap);
        task_await(promise_sleep(COUNT_NS));
    }
    return 0;
}

/* Each on the smallest stack. */
static void start(void)
{
    for (unsigned long i = 1; i <= crowd; i++) {
        promise_free(task_start_sized("member", wait, (void *)(uintptr_t)i,
                                      TASK_STACK_MIN));
        if (i % AT_ONCE == 0)
            prof_drain();
    }
}

int service_main(void)
{
    struct promise *counts;

    gate = promise_new(&producer, NULL, "gate");
    counts = task_start("counts", count, NULL);
    start();
    console_line("crowd: %u tasks wait", (unsigned)task_stats().live);
    task_await(promise_sleep(ms * NS_PER_MS));
    (void)prof_trace_dump(); /* if it is a flight recorder */
    promise_resolve(gate, 0);
    over = true;
    task_await(counts);
    while (task_stats().live != 0)
        task_yield();
    promise_free(gate);
    console_line("crowd: the sum is %llu", (unsigned long long)sum);
    return 0;
}
