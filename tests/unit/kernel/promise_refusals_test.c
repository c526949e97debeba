/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario with all kinds of promises runs again and again: with its first
 * allocation refused, its second, and so on; and cancelled at each moment.
 */

#include "../unit.h"

#include "promise_blocks.h"

#include <kernel/sync.h>

static struct promise *again(void *context, uintptr_t value)
{
    (void)value;
    return promise_timeout(mailbox_receive(context), 100);
}

static struct promise *instead(void *context, struct prof_trace_name *why)
{
    (void)context;
    (void)why;
    return promise_sleep(5);
}

/* All kinds at once. */
static struct promise *scenario(struct mailbox *box, struct mutex *mutex,
                                struct condition *condition, uintptr_t *values)
{
    struct promise *some[3], *all[4];
    struct promise *lock = mutex_lock(mutex);

    if (promise_result(lock).state == PROMISE_RESOLVED)
        all[0] = promise_timeout(condition_wait(condition, mutex), 30);
    else
        all[0] = promise_sleep(1);
    promise_free(lock);
    some[0] = promise_sleep(10);
    some[1] = promise_bind(promise_sleep(20), again, box);
    some[2] = mailbox_receive(box);
    all[1] = promise_pick(some, 3);
    some[0] = promise_of(1);
    some[1] = promise_timeout(mailbox_send(box, 1), 50);
    all[2] = promise_choose(some, 2);
    all[3] = promise_catch(promise_bind(promise_sleep(2), again, box), instead,
                           NULL);
    return promise_join(all, 4, values);
}

TEST(each_allocation_is_refused_in_turn)
{
    bool refused = true;
    unsigned successes = 0;

    for (long n = 0; refused; n++) {
        struct mailbox box = {.capacity = 1};
        struct mutex mutex = {0};
        struct condition condition = {0};
        uintptr_t values[4];
        struct promise *all;

        fresh();
        refuse_at = n;
        all = scenario(&box, &mutex, &condition, values);
        pass(15);
        condition_broadcast(&condition);
        pass(1000);
        refused = refuse_at < 0;
        refuse_at = -1;
        assert_int_not_equal(promise_state(all), PROMISE_PENDING);
        successes += promise_result(all).state == PROMISE_RESOLVED;
        promise_free(all);
        if (mutex.locked)
            mutex_unlock(&mutex);
        turn_all();
        mailbox_clear(&box);
        nothing_left();
        assert_true(n < 1000);
        assert_true(refused || n > 30);
    }
    assert_true(successes >= 1);
}

/* The same scenario, cancelled at each moment. */
TEST(each_moment_to_cancel)
{
    for (unsigned n = 0; n < 60; n++) {
        struct mailbox box = {.capacity = 1};
        struct mutex mutex = {0};
        struct condition condition = {0};
        struct promise *all;

        fresh();
        all = scenario(&box, &mutex, &condition, NULL);
        if (n != 0)
            pass(n);
        promise_cancel(all);
        pass(1000);
        promise_free(all);
        turn_all();
        mailbox_clear(&box);
        assert_false(mutex.locked);
        nothing_left();
    }
}
