/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TASK_INTERNAL_H
#define KERNEL_TASK_INTERNAL_H

/*
 * Interfaces between the files of this folder.
 *
 *     promise.c  a promise: its two sides, who waits for it
 *     pool.c     memory of promises; messages about misuse
 *     run_queue.c  what the loop is to call next
 *     chain.c    bind and catch
 *     group.c    join, choose, pick and timeout
 *     sleep.c    sleep
 *     task.c     tasks, await
 *     stacks.c   their stacks
 *     mutex.c, mailbox.c   what tasks share
 *     locks.c    which mutexes somebody waits for
 *     cpu_call.c, cpu_resolve.c, cpu_async.c   messages to other CPUs
 *     one_cpu.c  the same where there is one
 *     memory.c   the heap, as this folder uses it
 *
 * Contexts: thread, everywhere. All state is that of the calling CPU, but for
 * stacks, which have a lock.
 */

#include "list.h"

#include <kernel/promise.h>

/* ---- memory.c */

void *task_alloc(size_t bytes);
void task_free(void *block);

/* ---- pool.c */

/* Flags of a promise. */
#define PROMISE_OWNED 1u    /* the owner has not freed it */
#define PROMISE_PRODUCED 2u /* the producer has not completed it */
#define PROMISE_READ 4u     /* its result was looked at */
#define PROMISE_LIVE 8u     /* not in the pool */
#define PROMISE_CALLING 16u /* of those who wait, one is being called */
#define PROMISE_BECAME 32u  /* for the trace it is another one */

struct promise {
    uint8_t state; /* enum promise_state */
    uint8_t flags;
    uint16_t cpu;      /* whose it is */
    uint32_t id;       /* from 1 on, never given again */
    uint32_t trace;    /* the same for <prof/trace.h> */
    uint32_t watchers; /* in the list below, or waiting for their call */
    struct promise_link watches;
    uintptr_t value; /* or why, or the next one in the pool */
    const struct promise_producer *producer;
    void *context;
    struct prof_trace_name *site;
};

/* A promise of this CPU with an id, otherwise all zero but live; or NULL. */
struct promise *promise_pool_take(void);

/* Gives it back. Its memory stays a promise for ever, and is reused as late as
 * possible, so that a promise used after its end is noticed. */
void promise_pool_give(struct promise *promise);

/* Prints that (promise), which may be NULL, (what), with (detail) if that is
 * not NULL, and counts it. */
void promise_misused(const struct promise *promise, const char *what,
                     const char *detail);

/* Whether (promise) is of this CPU. Otherwise its use is misuse: printed and
 * counted. */
bool promise_is_here(const struct promise *promise);

/* The image ends: prints which promises of CPU 0 nobody has awaited or freed.
 * Other CPUs are still at work with theirs. */
void promise_at_end(void);

/* ---- run_queue.c */

/* Calls ready->run(ready) in a turn of the loop, after all that is ready now.
 * No effect if it is ready already. */
void promise_ready(struct promise_ready *ready);

/* ---- task.c */

/* That of the promise of the task that runs; 0: none does. */
uint32_t task_id(void);

/* ---- locks.c, for causal experiments */

struct mutex;

/* Who wants to know the holder of a mutex. */
#define MUTEX_BY_TRACE 1u
#define MUTEX_BY_LOCKS 2u /* the first wait was in an experiment */

/* In experiments: somebody waits for (mutex), which is called (name) from now
 * on if it has no name. */
void locks_wait(struct mutex *mutex, const char *name);

/* MUTEX_BY_LOCKS: (task) has it now, the id of its promise; 0: not known, or
 * nobody. */
void locks_hold(struct mutex *mutex, uint32_t task);

/* MUTEX_BY_LOCKS: one waits less. */
void locks_look(struct mutex *mutex);

/* The name of a mutex that (task) has and somebody waits for; NULL: none. */
const char *locks_name(uint32_t task);

/* ---- promise.c */

/*
 * Completes (promise) as (result) says. True: it has an owner. Ends the
 * producer's side.
 */
bool promise_complete(struct promise *promise,
                      const struct promise_result *result);

/*
 * Completes (promise) as (source) was, and frees (source), whose `ended` is now
 * called when (promise) ends. (source) may be NULL.
 */
void promise_become(struct promise *promise, struct promise *source);

/* Frees it, and does not mind if it fails, or has failed. NULL is allowed. */
void promise_ignore(struct promise *promise);

/* The same, and cancels it. */
void promise_discard(struct promise *promise);

#endif
