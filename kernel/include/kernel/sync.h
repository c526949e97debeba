/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_SYNC_H
#define KERNEL_SYNC_H

/*
 * What tasks share: mutexes, condition variables and mailboxes.
 *
 *     task_await(mutex_lock(&mutex));
 *     while (!there_is_work)
 *         task_await(condition_wait(&condition, &mutex));
 *     mutex_unlock(&mutex);
 *
 * All calls that may have to wait return a promise (promise.h), so that the
 * wait can be limited by promise_timeout(). Whoever waits is served in turn. A
 * wait that is given up, because its promise is cancelled or freed, costs
 * nobody anything: what had been granted meanwhile is passed on to the next.
 *
 * The structs are owned by the caller, initially all zero, and MUST exist while
 * somebody waits. Nothing waits for the CPU here: between two awaits a task is
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
    uint32_t trace, holder; /* private: numbers of itself and who has it */
    const char *name;       /* in causal experiments; NULL: that of who waits */
    struct mutex *next;     /* private: of those that somebody waits for */
    uint32_t owner;         /* private: the task that has it; 0: not known */
};

/* Resolves with 0 when the mutex is the caller's. Otherwise it is not. */
#define mutex_lock(mutex) mutex_lock_at(PROMISE_HERE("mutex"), mutex)
struct promise *mutex_lock_at(struct prof_trace_name *site,
                              struct mutex *mutex);

void mutex_unlock(struct mutex *mutex);

struct condition {
    struct promise_link waiters; /* private */
};

/*
 * Unlocks (mutex), which is the caller's, and waits for a signal. Resolves with
 * 0 when it has come and the mutex is the caller's again. Otherwise it is not.
 */
#define condition_wait(condition, mutex)                                       \
    condition_wait_at(PROMISE_HERE("condition"), condition, mutex)
struct promise *condition_wait_at(struct prof_trace_name *site,
                                  struct condition *condition,
                                  struct mutex *mutex);

/* Wakes the first who waits, or all. No effect if nobody does. */
void condition_signal(struct condition *condition);
void condition_broadcast(struct condition *condition);

/* A queue of numbers or pointers. */
struct mailbox {
    size_t capacity; /* messages that nobody waits for; set by the caller. 0: a
                        sender waits for a receiver */
    size_t count;    /* of these, now */
    bool closed;
    struct promise_link messages, senders, receivers; /* private */
    uint32_t trace;                                   /* private */
};

/* Resolves with 0 when (message) is in the mailbox; fails if that is closed. */
#define mailbox_send(mailbox, message)                                         \
    mailbox_send_at(PROMISE_HERE("send"), mailbox, message)
struct promise *mailbox_send_at(struct prof_trace_name *site,
                                struct mailbox *mailbox, uintptr_t message);

/*
 * Resolves with the oldest message; fails if there is none and the mailbox is
 * closed. A message that is received and not read goes back to its place, even
 * if there are more then than the capacity.
 */
#define mailbox_receive(mailbox)                                               \
    mailbox_receive_at(PROMISE_HERE("receive"), mailbox)
struct promise *mailbox_receive_at(struct prof_trace_name *site,
                                   struct mailbox *mailbox);

/* Fails all who wait, and all who send from now on, with mailbox_closed.
 * Messages can still be received. */
void mailbox_close(struct mailbox *mailbox);
extern struct prof_trace_name mailbox_closed;

/* Discards all messages, and lets those in who wait to send. */
void mailbox_clear(struct mailbox *mailbox);

#ifdef __cplusplus
}
#endif

#endif
