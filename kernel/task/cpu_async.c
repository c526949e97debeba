/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on another CPU whose value comes back as a promise: one message goes
 * there, and returns with the value. */

#include "internal.h"

#include <kernel/cpu.h>
#include <stddef.h>

struct async {
    struct cpu_message message;
    unsigned from; /* who asks, and awaits the promise */
    cpu_async_function *function;
    void *context;
    struct promise *promise;
    uintptr_t value;
};

static void answer(void *context)
{
    const struct async async = *(struct async *)context;

    task_free(context);
    (void)promise_resolve(async.promise, async.value);
}

static void call_function(void *context)
{
    struct async *async = context;

    async->value = async->function(async->context);
    async->message.function = answer;
    cpu_send(async->from, &async->message);
}

struct promise *cpu_async_at(struct prof_trace_name *site, unsigned cpu,
                             cpu_async_function *function, void *context)
{
    static const struct promise_producer producer = {.kind =
                                                         PROF_TRACE_PROMISE};
    struct async *async = task_alloc(sizeof *async);
    struct promise *promise;

    if (async == NULL)
        return NULL;
    promise = promise_new_at(site, &producer, NULL);
    if (promise == NULL) {
        task_free(async);
        return NULL;
    }
    *async = (struct async){
        .message = {.function = call_function, .context = async},
        .from = cpu_number(),
        .function = function,
        .context = context,
        .promise = promise,
    };
    cpu_send(cpu, &async->message); /* it is theirs from now on */
    return promise;
}
