/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that wait for everything that there is to be waited for, on the loop's
 * own time. What each function does in detail is for the unit tests.
 */

#include "guest/tap.h"

#include <kernel/clock.h>
#include <kernel/service.h>
#include <kernel/sync.h>
#include <kernel/task.h>
#include <string.h>

#define MS NS_PER_MS
#define LATE_NS (2 * CLOCK_TICK_NS + MS) /* two timers in series */

/* ---- time */

static uintptr_t after(void *ms)
{
    const uintptr_t value = (uintptr_t)ms;

    if (task_await(promise_sleep(value * MS)).state == PROMISE_RESOLVED)
        return value;
    return 0;
}

#define AFTER(ms) task_start("after", after, (void *)(uintptr_t)(ms))

static bool took(uint64_t begin_ns, uint64_t ms)
{
    const uint64_t ns = clock_ns() - begin_ns;

    if (ns < ms * MS || ns > ms * MS + LATE_NS)
        tap_note("took %llu us instead of %llu ms",
                 (unsigned long long)ns / 1000, (unsigned long long)ms);
    return ns >= ms * MS && ns <= ms * MS + LATE_NS;
}

static struct promise *thrice(void *context, uintptr_t value)
{
    (void)context;
    return AFTER(3 * value);
}

static struct promise *caught(void *context, struct prof_trace_name *why)
{
    (void)context;
    return promise_of(strlen(why->text));
}

static uintptr_t oops(void *unused)
{
    (void)unused;
    task_await(promise_sleep(10 * MS));
    return task_fail("oops");
}

static void test_time(void)
{
    uint64_t begin = clock_ns();
    struct promise *three[] = {AFTER(50), AFTER(20), AFTER(35)};
    uintptr_t values[3];
    struct promise_result result;

    task_await(promise_join(three, 3, values));
    tap_ok(took(begin, 50) && values[0] + values[1] + values[2] == 105,
           "join takes as long as the longest");
    begin = clock_ns();
    result = task_await(promise_bind(AFTER(20), thrice, NULL));
    tap_ok(took(begin, 80) && result.value == 60,
           "bind goes on with the value");
    begin = clock_ns();
    three[0] = AFTER(50);
    three[1] = AFTER(20);
    result = task_await(promise_choose(three, 2));
    tap_ok(took(begin, 20) && result.value == 20, "choose takes the first");
    tap_is_equal(task_stats().live, 1, "and leaves the other");
    task_await(promise_sleep(50 * MS));
    begin = clock_ns();
    three[0] = AFTER(5000);
    three[1] = AFTER(20);
    result = task_await(promise_pick(three, 2));
    tap_ok(took(begin, 20) && result.value == 20, "so does pick");
    task_yield();
    tap_is_equal(task_stats().live, 0, "which cancels the other");
    result =
        task_await(promise_catch(task_start("oops", oops, NULL), caught, NULL));
    tap_ok(result.state == PROMISE_RESOLVED && result.value == 4,
           "catch handles a failure");
    begin = clock_ns();
    result = task_await(promise_timeout(AFTER(1000), 30 * MS));
    tap_ok(took(begin, 30) && result.why == &promise_timed_out,
           "a timeout fails in time");
    result = task_await(promise_timeout(AFTER(20), 1000 * MS));
    tap_ok(result.value == 20, "and not if the result is there before");
}

/* ---- what tasks share */

static struct mutex mutex;
static struct condition condition;
static unsigned inside, most_inside, entered;
static bool go;

static uintptr_t visit(void *unused)
{
    (void)unused;
    if (task_await(mutex_lock(&mutex)).state != PROMISE_RESOLVED)
        return 0;
    while (!go)
        if (task_await(condition_wait(&condition, &mutex)).state !=
            PROMISE_RESOLVED)
            return 0;
    inside++;
    entered++;
    if (inside > most_inside)
        most_inside = inside;
    task_await(promise_sleep(MS));
    inside--;
    mutex_unlock(&mutex);
    return 1;
}

static void test_mutex(void)
{
    struct promise *visits[5];
    uintptr_t values[5];

    for (unsigned i = 0; i < 5; i++)
        visits[i] = task_start("visit", visit, NULL);
    task_await(promise_sleep(10 * MS));
    tap_is_equal(entered, 0, "a condition is waited for");
    promise_cancel(visits[1]);
    go = true;
    condition_broadcast(&condition);
    task_await(promise_join(visits, 5, values));
    tap_is_equal(entered, 4, "all but the cancelled one go on");
    tap_is_equal(most_inside, 1, "and only one at a time has the mutex");
    tap_ok(!mutex.locked, "which is unlocked at last");
}

static struct mailbox box = {.capacity = 3};
static uint64_t received_sum;
static bool in_order = true;

static uintptr_t produce(void *count)
{
    uintptr_t i = 1;

    while (i <= (uintptr_t)count &&
           task_await(mailbox_send(&box, i)).state == PROMISE_RESOLVED)
        i++;
    mailbox_close(&box);
    return i - 1;
}

static uintptr_t consume(void *unused)
{
    uintptr_t last = 0;

    (void)unused;
    for (;;) {
        const struct promise_result result = task_await(mailbox_receive(&box));

        if (result.state != PROMISE_RESOLVED)
            return result.why == &mailbox_closed;
        in_order = in_order && result.value == last + 1;
        last = result.value;
        received_sum += last;
        if (last % 100 == 0)
            task_await(promise_sleep(MS));
    }
}

static void test_mailbox(void)
{
    struct promise *both[2];
    uintptr_t values[2];

    both[0] = task_start("produce", produce, (void *)1000);
    tap_is_equal((long long)box.count, 3, "a mailbox holds what it may");
    both[1] = task_start("consume", consume, NULL);
    task_await(promise_join(both, 2, values));
    tap_is_equal((long long)received_sum, 500500, "all messages arrive");
    tap_ok(in_order, "in order");
    tap_ok(values[0] == 1000 && values[1] == 1,
           "and the end of the mailbox is seen");
}

/* ---- misuse */

static uintptr_t wait_for(void *promise)
{
    return (uintptr_t)task_wait(promise).state;
}

static void test_misuse(void)
{
    static const struct promise_producer producer = {.kind = PROF_TRACE_OTHER};
    struct promise *promise = promise_new(&producer, NULL, "misused");
    struct promise *task = task_start("waits", wait_for, promise);
    uint32_t errors = promise_stats().errors;

    promise_free(promise);
    tap_is_equal((long long)task_await(task).value, PROMISE_FAILED,
                 "freed while awaited: who waits learns of it");
    promise_resolve(promise, 1);
    promise_resolve(promise, 1);
    tap_is_equal(promise_stats().errors - errors, 2,
                 "and resolved twice it is reported");
}

int service_main(void)
{
    tap_plan(20);
    test_time();
    test_mutex();
    test_mailbox();
    test_misuse();
    tap_is_equal(promise_stats().live, 0, "no promise is left");
    return tap_end();
}
