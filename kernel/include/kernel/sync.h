/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_SYNC_H
#define KERNEL_SYNC_H

/*
 * Synchronisation of tasks: mutexes, condition variables and mailboxes.
 *
 *     task_await(mutex_lock(&mutex));
 *     while (!there_is_work)
 *         task_await(condition_wait(&condition, &mutex));
 *     mutex_unlock(&mutex);
 *
 * All calls that may have to wait return a promise (promise.h), so that
 * promise_timeout() can limit the wait. Waiters are served in FIFO order. If
 * the promise of a waiter is cancelled or freed, whatever was granted to it
 * passes to the next waiter.
 *
 * The structs are owned by the caller, zeroed at first, and MUST exist while
 * there are waiters. Tasks are not preempted: between two awaits a task runs
 * alone, and needs no mutex. Contexts: thread.
 */

#include <kernel/promise.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mutex {
    struct promise_link waiters; /* private */
    bool locked;
    uint8_t watched;        /* private: by whom */
    uint32_t trace, holder; /* private: trace numbers of the mutex and its
                               holder */
    const char *name;       /* in causal experiments; NULL: the waiter's */
    struct mutex *next;     /* private: next mutex that has waiters */
    uint32_t owner;         /* private: the task that holds it; 0: unknown */
};

/* Locks (mutex). The promise resolves with 0 when the caller holds the mutex;
 * if it is completed in another way, the caller does not hold it. */
#define mutex_lock(mutex) mutex_lock_at(PROMISE_HERE("mutex"), mutex)
struct promise *mutex_lock_at(struct prof_trace_name *site,
                              struct mutex *mutex);

/* Unlocks (mutex), which the caller holds. */
void mutex_unlock(struct mutex *mutex);

struct condition {
    struct promise_link waiters; /* private */
};

/*
 * Unlocks (mutex), which the caller holds, waits for a signal and locks it
 * again. The promise resolves with 0 when the caller holds the mutex; if it is
 * completed in another way, the caller does not hold it.
 */
#define condition_wait(condition, mutex)                                       \
    condition_wait_at(PROMISE_HERE("condition"), condition, mutex)
struct promise *condition_wait_at(struct prof_trace_name *site,
                                  struct condition *condition,
                                  struct mutex *mutex);

/* Wake the first waiter, or all. No effect if there are none. */
void condition_signal(struct condition *condition);
void condition_broadcast(struct condition *condition);

/* A FIFO queue of numbers or pointers. */
struct mailbox {
    size_t capacity; /* messages that it buffers; set by the caller. 0: a sender
                        waits for a receiver */
    size_t count;    /* messages buffered now */
    bool closed;
    struct promise_link messages, senders, receivers; /* private */
    uint32_t trace;                                   /* private */
};

/* Sends (message). The promise resolves with 0 when the message is in the
 * mailbox; it fails if the mailbox is closed. */
#define mailbox_send(mailbox, message)                                         \
    mailbox_send_at(PROMISE_HERE("send"), mailbox, message)
struct promise *mailbox_send_at(struct prof_trace_name *site,
                                struct mailbox *mailbox, uintptr_t message);

/*
 * Receives a message. The promise resolves with the oldest message; it fails if
 * the mailbox is empty and closed. If the promise's value is never read, the
 * message returns to its position, even beyond the capacity.
 */
#define mailbox_receive(mailbox)                                               \
    mailbox_receive_at(PROMISE_HERE("receive"), mailbox)
struct promise *mailbox_receive_at(struct prof_trace_name *site,
                                   struct mailbox *mailbox);

/* Closes the mailbox: all waiters, and all later sends, fail with
 * mailbox_closed. Buffered messages can still be received. */
void mailbox_close(struct mailbox *mailbox);
extern struct prof_trace_name mailbox_closed;

/* Discards all messages, and admits waiting senders. */
void mailbox_clear(struct mailbox *mailbox);

#ifdef __cplusplus
}
#endif

#endif
