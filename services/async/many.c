/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many alike: ten thousand requests, one a millisecond. Each looks something
 * up, takes one of a few connections, uses it and gives it back. In the middle
 * something else holds the loop for a while. Few requests take much longer, and
 * few are refused. Or some hundreds of them, for a page that is small.
 */

#include "demo.h"

#include <kernel/clock.h>
#include <kernel/sync.h>
#include <kernel/task.h>
#include <stdlib.h>

#define REQUESTS 10000u
#define FEW_REQUESTS 300u /* of the demo `some` */
#define FEW_FROM 401u     /* their numbers: one is refused, one is slow */
#define CONNECTIONS 16u
#define SLOW_EVERY 700u   /* requests */
#define REFUSE_EVERY 450u /* requests */
#define USE_NS (10 * NS_PER_MS)
#define HOLD_NS (300 * NS_PER_MS)

static struct mailbox connections = {.capacity = CONNECTIONS};
static const struct promise_producer last_request;
static struct promise *all_ended;
static unsigned ended, requests = REQUESTS;
static uintptr_t first = 1;

/* Between 0 and (limit), exclusive; the same in each run. */
static uint64_t random_below(uint64_t limit)
{
    static uint32_t state = 1;

    state = state * 1664525u + 1013904223u;
    return (state >> 8) * limit >> 24;
}

static void compute_for(uint64_t ns)
{
    uint64_t end = clock_ns() + ns;

    while (clock_ns() < end)
        ;
}

static uint64_t lookup_ns(uintptr_t number)
{
    if (number % SLOW_EVERY == 0)
        return 2 * NS_PER_S;
    return 5 * NS_PER_MS + random_below(random_below(400 * NS_PER_MS));
}

static uintptr_t serve_request(void *context)
{
    uintptr_t number = (uintptr_t)context;

    compute_for(10000); /* ns */
    task_await(promise_sleep(lookup_ns(number)));
    task_await(mailbox_receive(&connections));
    compute_for(20000); /* ns */
    task_await(promise_sleep(USE_NS / 2 + random_below(USE_NS)));
    task_await(mailbox_send(&connections, number));
    if (++ended == requests)
        promise_resolve(all_ended, 0);
    return number % REFUSE_EVERY == 0 ? task_fail("refused") : 0;
}

static uintptr_t tidy_up(void *unused)
{
    (void)unused;
    task_await(promise_sleep(requests / 2 * NS_PER_MS));
    compute_for(HOLD_NS);
    return 0;
}

static uintptr_t accept_requests(void *unused)
{
    struct promise *tidy = task_start("tidy up", tidy_up, NULL);
    uint64_t begin = clock_ns();

    (void)unused;
    all_ended = promise_new(&last_request, NULL, "all ended");
    if (all_ended == NULL)
        return task_fail("no memory");
    for (uintptr_t i = 0; i < CONNECTIONS; i++)
        task_await(mailbox_send(&connections, i));
    for (uintptr_t i = 0; i < requests; i++) {
        uint64_t due = begin + (i + 1) * NS_PER_MS, now = clock_ns();

        if (now < due)
            task_await(promise_sleep(due - now));
        promise_free(task_start_sized("serve request", serve_request,
                                      (void *)(first + i), TASK_STACK_MIN));
    }
    task_await(all_ended);
    task_await(tidy);
    return requests;
}

static struct promise *many(void)
{
    return task_start("accept requests", accept_requests, NULL);
}

static struct promise *some(void)
{
    requests = FEW_REQUESTS;
    first = FEW_FROM;
    return many();
}

/* clang-format off */
const struct demo demo_many[] = {
    {"many", "10,000 requests for 16 connections", many},
    {"some", "300 of them", some},
    {NULL, NULL, NULL},
};
