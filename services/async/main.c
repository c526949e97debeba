/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small asynchronous programs, to be recorded with prof.trace=stream and looked
 * at: `make async DEMO=disk`. docs/async.md shows what one sees.
 *
 * Options: demo=NAME
 */

#include "demo.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/service.h>
#include <kernel/task.h>
#include <string.h>

static const struct demo *const lists[] = {demo_waits, demo_devices,
                                           demo_network, demo_many};
static const struct demo *chosen;
static bool asked; /* which there are */

static const struct demo *find_demo(const char *name)
{
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const struct demo *demo = lists[i]; demo->name != NULL; demo++)
            if (strcmp(demo->name, name) == 0)
                return demo;
    return NULL;
}

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "demo") != 0)
        return false;
    asked = strcmp(value, "list") == 0;
    chosen = find_demo(value);
    return asked || chosen != NULL;
}

/* Returns the guest's exit code: 0 if they were asked for. */
static int list_all(void)
{
    console_line("async: demo= is one of");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const struct demo *demo = lists[i]; demo->name != NULL; demo++)
            console_line("async:   %-10s %s", demo->name, demo->what);
    return asked ? 0 : 1;
}

int service_main(void)
{
    static const char *const words[] = {
        [PROMISE_RESOLVED] = "resolved",
        [PROMISE_FAILED] = "failed",
        [PROMISE_CANCELLED] = "cancelled",
    };
    struct promise_result result;
    struct promise *promise;
    uint64_t begin;

    if (chosen == NULL)
        return list_all();
    begin = clock_ns();
    promise = chosen->begin();
    if (promise == NULL)
        return 1;
    result = task_await(promise);
    console_line("async: %s: %s%s%s with %lu after %lu us", chosen->name,
                 words[result.state], result.why != NULL ? ", " : "",
                 result.why != NULL ? result.why->text : "",
                 (unsigned long)result.value,
                 (unsigned long)((clock_ns() - begin) / 1000));
    return result.state == PROMISE_RESOLVED ? 0 : 1;
}
