/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of what is to be called next, as a source of work of the event
 * loop. What becomes ready during a turn is called in the same turn, so that a
 * chain of promises does not take a turn for each; up to a limit, so that
 * timers and devices are served too.
 */

#include "internal.h"

#include <kernel/loop.h>

#define CALLS_A_TURN 256u

static struct promise_link queue;

static bool waiting(void)
{
    return !list_empty(&queue);
}

static void turn(void)
{
    struct promise_link *link;

    for (unsigned i = 0; i < CALLS_A_TURN; i++) {
        link = list_take(&queue);
        if (link == NULL)
            return;
        struct promise_ready *ready =
            LIST_OWNER(link, struct promise_ready, link);

        ready->run(ready);
    }
}

void promise_ready(struct promise_ready *ready)
{
    static struct loop_source source = {.waiting = waiting, .turn = turn};

    if (queue.next == NULL) {
        list_init(&queue);
        loop_add(&source);
    }
    if (ready->link.next == NULL || list_empty(&ready->link))
        list_add(&queue, &ready->link);
}
