/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that still wait when the image ends, for everything that there is to be
 * waited for; `parasite tasks` shows who waits for what (tests/async).
 */

#include <kernel/clock.h>
#include <kernel/disk.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <kernel/sync.h>
#include <kernel/task.h>

#define FOR_EVER (1000 * NS_PER_S)

static struct mutex mutex;
static struct mailbox empty = {.capacity = 1}, full = {.capacity = 1};
static uint8_t page[4096] __attribute__((aligned(4096)));

static uintptr_t hold(void *unused)
{
    (void)unused;
    task_await(mutex_lock(&mutex));
    task_await(promise_sleep(FOR_EVER));
    return 0;
}

/* Had it before, and must not be shown as having it. */
static uintptr_t pass(void *unused)
{
    (void)unused;
    task_await(mutex_lock(&mutex));
    task_await(promise_sleep(NS_PER_MS));
    mutex_unlock(&mutex);
    task_await(mailbox_receive(&empty));
    return 0;
}

static uintptr_t want(void *unused)
{
    (void)unused;
    task_await(mutex_lock(&mutex));
    return 0;
}

static uintptr_t send(void *unused)
{
    (void)unused;
    task_await(mailbox_send(&full, 1));
    task_await(mailbox_send(&full, 2));
    return 0;
}

static uintptr_t read(void *unused)
{
    (void)unused;
    task_await(disk_read(0, page, sizeof page));
    return 0;
}

static struct promise *then(void *unused, uintptr_t value)
{
    (void)unused;
    return promise_of(value);
}

static uintptr_t join(void *unused)
{
    struct promise *some[2], *all[2];

    (void)unused;
    some[0] = promise_bind(promise_sleep(FOR_EVER), then, NULL);
    some[1] = promise_timeout(mailbox_receive(&empty), FOR_EVER);
    all[0] = promise_choose(some, 2);
    all[1] = task_start("reader", read, NULL);
    task_await(promise_join(all, 2, NULL));
    return 0;
}

static void stop(void *unused)
{
    (void)unused;
    loop_stop();
}

int service_main(void)
{
    static struct loop_timer timer;

    if (!disk_start())
        return 1;
    promise_free(task_start("passer", pass, NULL));
    promise_free(task_start("holder", hold, NULL));
    promise_free(task_start("wanter", want, NULL));
    promise_free(task_start("sender", send, NULL));
    promise_free(task_start("joiner", join, NULL));
    loop_once(&timer, 50 * NS_PER_MS, stop, NULL);
    loop_run();
    return 0;
}
