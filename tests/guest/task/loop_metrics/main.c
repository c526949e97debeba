/* SPDX-License-Identifier: Apache-2.0 */
/*
 * services/http beside tasks of all kinds, so that each of its metrics of the
 * event loop has values: some end, fail or are cancelled, one never ends, and
 * one holds the loop from time to time (tests/occupancy/dashboard.py).
 */

#include <kernel/clock.h>
#include <kernel/service.h>
#include <kernel/task.h>

#define TURN_NS (20 * NS_PER_MS)
#define HOG_EVERY 8u /* turns */
#define HOG_NS (30 * NS_PER_MS)

int __real_service_main(void);
int __wrap_service_main(void);

static void compute_for(uint64_t ns)
{
    uint64_t end = clock_ns() + ns;

    while (clock_ns() < end)
        ;
}

static uintptr_t work(void *unused)
{
    (void)unused;
    task_await(promise_sleep(NS_PER_MS));
    compute_for(NS_PER_MS / 5);
    return 0;
}

static uintptr_t be_refused(void *unused)
{
    (void)unused;
    task_await(promise_sleep(NS_PER_MS));
    return task_fail("refused");
}

static uintptr_t wait_long(void *unused)
{
    (void)unused;
    task_await(promise_sleep(3600 * NS_PER_S));
    return 0;
}

static uintptr_t hold_the_loop(void *unused)
{
    (void)unused;
    compute_for(HOG_NS);
    return 0;
}

static uintptr_t cause_it(void *unused)
{
    (void)unused;
    for (unsigned turn = 0; !task_is_cancelled(); turn++) {
        struct promise *given_up = task_start("given up", wait_long, NULL);

        promise_free(task_start("work", work, NULL));
        (void)task_await(task_start("refused", be_refused, NULL));
        if (turn % HOG_EVERY == 0)
            promise_free(task_start("hog", hold_the_loop, NULL));
        task_await(promise_sleep(TURN_NS));
        promise_cancel(given_up);
        promise_free(given_up);
    }
    return 0;
}

int __wrap_service_main(void)
{
    int result = __real_service_main();

    promise_free(task_start("forever", wait_long, NULL));
    promise_free(task_start("cause", cause_it, NULL));
    return result;
}
