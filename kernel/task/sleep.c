/* SPDX-License-Identifier: Apache-2.0 */
/* A promise that a timer of the event loop resolves. */

#include "internal.h"
#include "trace.h"

#include <kernel/loop.h>

struct sleep {
    struct loop_timer timer;
    struct promise *own; /* produced here */
};

static void on_time(void *context)
{
    struct sleep *sleep = context;
    struct promise *own = sleep->own;

    task_free(sleep);
    promise_resolve(own, 0);
}

static void on_cancel(struct promise *own, void *context)
{
    struct sleep *sleep = context;

    loop_cancel(&sleep->timer);
    task_free(sleep);
    promise_stop(own);
}

struct promise *promise_sleep_at(struct prof_trace_name *site, uint64_t ns)
{
    static const struct promise_producer producer = {
        .kind = PROF_TRACE_SLEEP,
        .cancel = on_cancel,
    };
    struct sleep *sleep = task_alloc(sizeof *sleep);

    if (sleep == NULL)
        return NULL;
    *sleep = (struct sleep){.own = promise_new_at(site, &producer, sleep)};
    if (sleep->own == NULL) {
        task_free(sleep);
        return NULL;
    }
    loop_once(&sleep->timer, ns, on_time, sleep);
    task_trace_awaits_object(sleep->own, sleep->timer.trace);
    return sleep->own;
}
