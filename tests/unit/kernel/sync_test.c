/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes, condition variables and mailboxes. */

#include "../unit.h"

#include "promise_blocks.h"

#include <kernel/sync.h>
#include <prof/causal.h>

TEST(mutex_is_passed_on)
{
    struct mutex mutex = {0};
    struct promise *first = mutex_lock(&mutex), *second = mutex_lock(&mutex);
    struct promise *third = mutex_lock(&mutex), *fourth = mutex_lock(&mutex);

    ends_as(first, PROMISE_RESOLVED, 0);
    is(second, PROMISE_PENDING);
    promise_cancel(second);
    promise_free(second);
    mutex_unlock(&mutex);
    is(third, PROMISE_RESOLVED);
    promise_free(third); /* granted, and never noticed */
    ends_as(fourth, PROMISE_RESOLVED, 0);
    mutex_unlock(&mutex);
    assert_false(mutex.locked);
    mutex_unlock(&mutex);
    assert_int_equal(lines, 1);
    first = mutex_lock(&mutex);
    promise_result(first);
    second = promise_timeout(mutex_lock(&mutex), 10);
    pass(10);
    fails_with(second, "timed out");
    mutex_unlock(&mutex);
    promise_free(first);
}

TEST(a_lock_that_nobody_wants_is_skipped)
{
    struct mutex mutex = {0};
    struct promise *first = mutex_lock(&mutex), *second = mutex_lock(&mutex);
    struct promise *third = mutex_lock(&mutex);

    promise_result(first);
    promise_free(first);
    promise_free(second); /* given up without being cancelled */
    mutex_unlock(&mutex);
    ends_as(third, PROMISE_RESOLVED, 0);
    mutex_unlock(&mutex);
}

/* ---- in causal experiments */

static struct promise *lock_as(uint32_t task, struct mutex *mutex)
{
    running_task = task;
    return mutex_lock(mutex);
}

static void unlock_after(struct mutex *mutex, struct promise *lock)
{
    ends_as(lock, PROMISE_RESOLVED, 0);
    mutex_unlock(mutex);
}

TEST(who_has_a_mutex_that_is_waited_for)
{
    struct mutex ledger = {.name = "ledger"}, other = {0};
    struct condition condition = {0};
    struct promise *locks[6];

    prof_causal_state = PROF_CAUSAL_EXPERIMENTS;
    locks[0] = lock_as(1, &ledger);
    assert_int_equal(ledger.watched, 0);
    locks[1] = lock_as(2, &ledger);
    assert_null(locks_name(1)); /* it began before it was watched */
    unlock_after(&ledger, locks[0]);
    assert_null(locks_name(2)); /* nobody waits */
    locks[2] = lock_as(3, &ledger);
    locks[3] = lock_as(4, &ledger);
    locks[4] = lock_as(5, &other);
    locks[5] = lock_as(5, &other);
    assert_string_equal(locks_name(2), "ledger");
    assert_null(locks_name(3));
    assert_string_equal(other.name, "mutex");
    promise_discard(locks[2]);
    assert_string_equal(locks_name(2), "ledger");
    promise_discard(locks[3]);
    assert_null(locks_name(2));
    /* signalled by another: it is whose wait it was */
    ends_as(locks[1], PROMISE_RESOLVED, 0);
    locks[0] = condition_wait(&condition, &ledger);
    running_task = 6;
    condition_signal(&condition);
    locks[1] = lock_as(7, &ledger);
    assert_string_equal(locks_name(5), "ledger");
    assert_null(locks_name(6));
    prof_causal_state = PROF_CAUSAL_NOTHING;
    unlock_after(&ledger, locks[0]);
    assert_null(locks_name(7));
    unlock_after(&ledger, locks[1]);
    assert_int_equal(ledger.watched, 0);
    unlock_after(&other, locks[4]);
    unlock_after(&other, locks[5]);
    assert_int_equal(other.watched, 0);
}

TEST(conditions_take_the_mutex)
{
    struct mutex mutex = {0};
    struct condition condition = {0};
    struct promise *lock = mutex_lock(&mutex), *waits[3];

    condition_signal(&condition);
    for (unsigned i = 0; i < 3; i++) {
        promise_result(lock);
        promise_free(lock);
        waits[i] = condition_wait(&condition, &mutex);
        assert_false(mutex.locked);
        lock = mutex_lock(&mutex);
    }
    promise_result(lock);
    promise_free(lock);
    condition_signal(&condition);
    is(waits[0], PROMISE_PENDING); /* the mutex is still ours */
    mutex_unlock(&mutex);
    ends_as(waits[0], PROMISE_RESOLVED, 0);
    condition_broadcast(&condition);
    mutex_unlock(&mutex);
    is(waits[1], PROMISE_RESOLVED);
    is(waits[2], PROMISE_PENDING);
    promise_free(waits[1]); /* so the mutex is passed on */
    ends_as(waits[2], PROMISE_RESOLVED, 0);
    mutex_unlock(&mutex);
    assert_false(mutex.locked);
}

TEST(mailboxes_are_bounded)
{
    struct mailbox box = {.capacity = 2};
    struct promise *sent[4], *received;

    for (unsigned i = 0; i < 4; i++)
        sent[i] = mailbox_send(&box, 10 + i);
    is(sent[1], PROMISE_RESOLVED);
    is(sent[2], PROMISE_PENDING);
    received = mailbox_receive(&box);
    is(sent[2], PROMISE_RESOLVED);
    promise_cancel(sent[3]);
    promise_free(received); /* not read: it comes again */
    assert_int_equal(box.count, 3);
    for (unsigned i = 0; i < 3; i++)
        ends_as(mailbox_receive(&box), PROMISE_RESOLVED, 10 + i);
    received = mailbox_receive(&box);
    is(received, PROMISE_PENDING);
    promise_free(mailbox_send(&box, 99));
    ends_as(received, PROMISE_RESOLVED, 99);
    for (unsigned i = 0; i < 4; i++)
        promise_free(sent[i]);
}

TEST(mailboxes_without_room_hand_over)
{
    struct mailbox box = {0};
    struct promise *sent = mailbox_send(&box, 1), *received;

    is(sent, PROMISE_PENDING);
    received = mailbox_receive(&box);
    is(sent, PROMISE_RESOLVED);
    ends_as(received, PROMISE_RESOLVED, 1);
    received = mailbox_receive(&box);
    promise_free(received); /* gives up, but is still in the queue */
    received = mailbox_receive(&box);
    promise_free(mailbox_send(&box, 2));
    ends_as(received, PROMISE_RESOLVED, 2);
    promise_free(sent);
}

TEST(mailboxes_close)
{
    struct mailbox box = {.capacity = 1};
    struct promise *sent, *waiting, *receiving;

    promise_free(mailbox_send(&box, 1));
    waiting = mailbox_send(&box, 2);
    mailbox_close(&box);
    fails_with(waiting, "the mailbox is closed");
    sent = mailbox_send(&box, 3);
    fails_with(sent, "the mailbox is closed");
    ends_as(mailbox_receive(&box), PROMISE_RESOLVED, 1);
    fails_with(mailbox_receive(&box), "the mailbox is closed");
    box = (struct mailbox){.capacity = 1};
    receiving = mailbox_receive(&box);
    mailbox_close(&box);
    fails_with(receiving, "the mailbox is closed");
    box = (struct mailbox){.capacity = 1};
    promise_free(mailbox_send(&box, 1));
    waiting = mailbox_send(&box, 2);
    mailbox_clear(&box);
    is(waiting, PROMISE_RESOLVED);
    mailbox_clear(&box);
    promise_free(waiting);
}
