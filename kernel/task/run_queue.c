/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of what is to be called next, as a source of work of each CPU's
 * event loop. What becomes ready during a turn is called in the same turn, so
 * that a chain of promises does not take a turn for each; up to a limit, so
 * that timers and devices are served too.
 */

#include "internal.h"

#include <arch/cpu_number.h>
#include <kernel/loop.h>

#define CALLS_A_TURN 256u

static bool has_ready(void);
static void call_ready(void);

/* Of each CPU. */
static struct {
    struct promise_link queue;
    struct loop_source source;
} queues[ARCH_CPUS_MAX] = {
    [0 ... ARCH_CPUS_MAX -
     1] = {.source = {.waiting = has_ready, .turn = call_ready}}};

#define HERE (&queues[arch_cpu_number()])

static bool has_ready(void)
{
    return !list_empty(&HERE->queue);
}

static void call_ready(void)
{
    struct promise_link *queue = &HERE->queue, *link;

    for (unsigned i = 0; i < CALLS_A_TURN; i++) {
        link = list_take(queue);
        if (link == NULL)
            return;
        struct promise_ready *ready =
            LIST_OWNER(link, struct promise_ready, link);

        ready->run(ready);
    }
}

void promise_ready(struct promise_ready *ready)
{
    struct promise_link *queue = &HERE->queue;

    if (queue->next == NULL) {
        list_init(queue);
        loop_add(&HERE->source);
    }
    if (ready->link.next == NULL || list_empty(&ready->link))
        list_add(queue, &ready->link);
}
