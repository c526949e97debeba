/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No memory: each allocation of tasks, stacks, promises and what waits is
 * refused in turn, with the recorder on, until a round needs no more. No round
 * may crash, hang, or leave anything behind.
 *
 * Option: boot=NUMBER, the allocation of the profiler that is refused from the
 * boot on; then there are no rounds.
 */

#include "guest/wraps.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/disk.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <kernel/sync.h>
#include <kernel/task.h>
#include <prof/trace.h>
#include <stdlib.h>
#include <string.h>

#define SOME 3u

struct stack;
struct promise *__real_promise_pool_take(void);
struct promise *__wrap_promise_pool_take(void);
bool __real_stack_take(size_t bytes, struct stack *stack);
bool __wrap_stack_take(size_t bytes, struct stack *stack);
void *__real_task_alloc(size_t bytes);
void *__wrap_task_alloc(size_t bytes);

static unsigned long allocations, refused, boot_allocations, boot_refused;
static uint8_t sector[512] __attribute__((aligned(512)));
static PROF_TRACE_NAME(counter, "refused");

/* Whether this allocation is the one. */
static bool refuse(void)
{
    return ++allocations == refused;
}

struct promise *__wrap_promise_pool_take(void)
{
    return refuse() ? NULL : __real_promise_pool_take();
}

bool __wrap_stack_take(size_t bytes, struct stack *stack)
{
    return !refuse() && __real_stack_take(bytes, stack);
}

void *__wrap_task_alloc(size_t bytes)
{
    return refuse() ? NULL : __real_task_alloc(bytes);
}

void *__wrap_prof_port_alloc(size_t bytes)
{
    return ++boot_allocations == boot_refused ? NULL
                                              : __real_prof_port_alloc(bytes);
}

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "boot") != 0)
        return false;
    boot_refused = strtoul(value, NULL, 10);
    return true;
}

/* ---- a round: everything that allocates */

static struct mutex mutex;
static struct condition condition;
static struct mailbox box;

static uintptr_t visit(void *unused)
{
    (void)unused;
    if (task_await(mutex_lock(&mutex)).state != PROMISE_RESOLVED)
        return task_fail("not locked");
    task_await(promise_sleep(NS_PER_MS));
    mutex_unlock(&mutex);
    return 1;
}

static uintptr_t wait_for_signal(void *unused)
{
    (void)unused;
    if (task_await(mutex_lock(&mutex)).state != PROMISE_RESOLVED)
        return 0;
    if (task_await(condition_wait(&condition, &mutex)).state ==
        PROMISE_RESOLVED)
        mutex_unlock(&mutex);
    return 1;
}

static uintptr_t send(void *unused)
{
    (void)unused;
    for (uintptr_t i = 0; i < SOME; i++)
        if (task_await(mailbox_send(&box, i)).state != PROMISE_RESOLVED)
            break;
    mailbox_close(&box);
    return 0;
}

static uintptr_t receive(void *unused)
{
    (void)unused;
    while (task_await(mailbox_receive(&box)).state == PROMISE_RESOLVED)
        ;
    mailbox_close(&box);
    return 0;
}

static struct promise *then(void *unused, uintptr_t value)
{
    (void)unused;
    return promise_of(value + 1);
}

static struct promise *handle(void *unused, struct prof_trace_name *why)
{
    (void)unused;
    (void)why;
    return promise_of(0);
}

static void groups(void)
{
    struct promise *some[SOME];
    uintptr_t values[SOME];

    for (unsigned i = 0; i < SOME; i++)
        some[i] = task_start("visit", visit, NULL);
    task_await(promise_join(some, SOME, values));
    for (unsigned i = 0; i < SOME; i++)
        some[i] = promise_sleep((i + 1) * NS_PER_MS);
    task_await(promise_choose(some, SOME));
    for (unsigned i = 0; i < SOME; i++)
        some[i] = promise_sleep((i + 1) * NS_PER_MS);
    task_await(promise_pick(some, SOME));
}

static void shared(void)
{
    struct promise *both[2];

    box = (struct mailbox){.capacity = 1};
    both[0] = task_start("send", send, NULL);
    both[1] = task_start("receive", receive, NULL);
    if (both[0] == NULL || both[1] == NULL)
        mailbox_close(&box);
    task_await(promise_join(both, 2, NULL));
    mailbox_clear(&box);
    both[0] = task_start("condition", wait_for_signal, NULL);
    task_await(promise_sleep(2 * NS_PER_MS));
    condition_broadcast(&condition);
    task_await(promise_timeout(both[0], 5 * NS_PER_MS));
}

static uintptr_t round(void *unused)
{
    (void)unused;
    groups();
    shared();
    task_await(promise_bind(promise_sleep(NS_PER_MS), then, NULL));
    task_await(promise_catch(promise_failed(&promise_timed_out), handle, NULL));
    task_await(promise_timeout(promise_sleep(NS_PER_S), NS_PER_MS));
    task_await(disk_read(0, sector, sizeof sector));
    return 0;
}

/* ---- all of them */

/* What a round has left behind; its sleeps are over by then. */
static unsigned left(void)
{
    for (unsigned i = 0; i < 5000 && promise_stats().live != 0; i++)
        loop_wait();
    return promise_stats().live + task_stats().live;
}

static bool again(void)
{
    allocations = 0;
    refused++;
    prof_trace_counter(&counter, (int64_t)refused);
    task_await(task_start("round", round, NULL));
    return allocations >= refused;
}

int service_main(void)
{
    unsigned remains = 0;

    if (boot_refused != 0) {
        console_line("refused: %lu of %lu at boot", boot_refused,
                     boot_allocations);
        return 0;
    }
    if (!disk_start())
        return 1;
    while (again())
        remains += left();
    console_line("refused: %lu in turn; %u left, %u errors", refused - 1,
                 remains + left(), (unsigned)promise_stats().errors);
    return 0;
}
