/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promises that nobody awaits: each is named when the image ends, or where it
 * is freed. Those that are looked at, or freed in time, are not.
 */

#include <kernel/clock.h>
#include <kernel/service.h>
#include <kernel/sync.h>
#include <kernel/task.h>

#define MANY 20u

static uintptr_t succeed(void *unused)
{
    (void)unused;
    return 1;
}

static uintptr_t fail(void *unused)
{
    (void)unused;
    task_await(promise_sleep(NS_PER_MS));
    return task_fail("on purpose");
}

int service_main(void)
{
    struct promise *many[MANY];

    promise_free(task_start("given up", succeed, NULL));
    promise_free(task_start("unheard", fail, NULL));
    task_await(task_start("awaited", succeed, NULL));
    (void)promise_result(task_start("looked at", succeed, NULL));
    (void)task_start("forgotten", succeed, NULL);
    task_await(promise_sleep(5 * NS_PER_MS));
    for (unsigned i = 0; i < MANY; i++)
        many[i] = promise_sleep(1000 * NS_PER_S);
    promise_free(many[0]);
    return 0;
}
