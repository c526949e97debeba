/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROMISE_H
#define KERNEL_PROMISE_H

/*
 * Promises: values that will be there later.
 *
 * A promise is pending until it is completed, once and for all: resolved with a
 * value, failed with a reason, or cancelled. It has two sides:
 *
 *     owner      one at a time, at first the caller of the function that
 *                returned it. Awaits it, or passes it to a function that takes
 *                it over, or frees it; each exactly once.
 *     producer   whoever made it by promise_new(). Completes it exactly once,
 *                even if it was cancelled or freed meanwhile.
 *
 * A promise exists until both have done so; neither needs to know of the other.
 *
 * No memory: a function that returns a promise returns NULL, and all functions
 * that take one take NULL as a promise that has failed with that reason. So
 * only the last one of a chain of calls needs to look.
 *
 * Who waits is called in the event loop, never by promise_resolve() itself, in
 * the order in which promises were completed. Misuse (completed or freed twice,
 * freed while awaited, failed and never looked at) prints a line that begins
 * with "promise:", is counted, and changes nothing else.
 *
 * A call that makes a promise is a place in the source, by which traces and
 * messages name it: hence the macros over functions in _at().
 *
 * Contexts: thread, everywhere; of several CPUs the one that has made it.
 * Interrupts defer to the loop (loop.h).
 */

#include <prof/loop.h>
#include <prof/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum promise_state {
    PROMISE_PENDING,
    PROMISE_RESOLVED,
    PROMISE_FAILED,
    PROMISE_CANCELLED,
};

struct promise_result {
    enum promise_state state;
    uintptr_t value;             /* if resolved; a number or a pointer */
    struct prof_trace_name *why; /* if failed or cancelled: why->text */
};

struct promise;

/* Reasons of this kernel; compare the pointers. */
extern struct prof_trace_name promise_no_memory, promise_timed_out,
    promise_cancelled;

/* This place in the source, with a constant text. */
#define PROMISE_HERE(text)                                                     \
    (__extension__({                                                           \
        static PROF_TRACE_SITE(promise_here_, text);                           \
        &promise_here_;                                                        \
    }))

/* ---- the owner's side */

enum promise_state promise_state(const struct promise *promise);

/* What has become of it. A resolved one counts as read: the value is now the
 * caller's to look after. */
struct promise_result promise_result(struct promise *promise);

/*
 * Cancels a promise that is pending: its producer is asked to stop. No effect
 * on others. It still has to be freed.
 */
void promise_cancel(struct promise *promise);

/*
 * Gives it up. What produces it goes on, and its value is discarded; cancel it
 * before if it should stop.
 */
void promise_free(struct promise *promise);

/* ---- the producer's side */

/* Functions of a producer; each may be NULL. */
struct promise_producer {
    enum prof_trace_kind kind;

    /* Asked to stop. It completes the promise now or later; as what does not
     * matter. Called at most once, not after it has completed. */
    void (*cancel)(struct promise *promise, void *context);

    /*
     * The owner is done with it after it was resolved. (read): the value was
     * taken. Otherwise, what it refers to is to be released.
     */
    void (*ended)(void *context, uintptr_t value, bool read);
};

/* A pending promise with a constant (name), or NULL. (producer) MUST exist as
 * long as the promise does. */
#define promise_new(producer, context, name)                                   \
    promise_new_at(PROMISE_HERE(name), producer, context)
struct promise *promise_new_at(struct prof_trace_name *site,
                               const struct promise_producer *producer,
                               void *context);

/*
 * Complete it, and end the producer's side. True: somebody owns it, who may
 * read it. False: nobody will, and `ended` is not called.
 */
bool promise_resolve(struct promise *promise, uintptr_t value);
#define promise_fail(promise, reason)                                          \
    promise_fail_for(promise, PROMISE_HERE(reason)) /* a constant text */
bool promise_fail_for(struct promise *promise, struct prof_trace_name *why);

/* The same, as cancelled: for a producer that stops by itself. */
bool promise_stop(struct promise *promise);

/* Promises that are completed from the start. */
struct promise *promise_of(uintptr_t value);
struct promise *promise_failed(struct prof_trace_name *why);

/* ---- together: each takes over the promises that it is given */

/* What goes on with a (value), or after a failure with its reason. */
typedef struct promise *promise_then(void *context, uintptr_t value);
typedef struct promise *promise_handler(void *context,
                                        struct prof_trace_name *why);

/* (then) of the value of (first), once it is there. A failure is passed on. */
#define promise_bind(first, then, context)                                     \
    promise_bind_at(PROMISE_HERE("bind"), first, then, context)
struct promise *promise_bind_at(struct prof_trace_name *site,
                                struct promise *first, promise_then *then,
                                void *context);

/* The value of (first) or, if it fails, what (handler) returns. */
#define promise_catch(first, handler, context)                                 \
    promise_catch_at(PROMISE_HERE("catch"), first, handler, context)
struct promise *promise_catch_at(struct prof_trace_name *site,
                                 struct promise *first,
                                 promise_handler *handler, void *context);

/*
 * Resolves when all (count) promises are completed, with (count). Their values
 * are stored in (values), which may be NULL. If some did not resolve, it
 * becomes what the first of them became, but not before all are completed.
 */
#define promise_join(promises, count, values)                                  \
    promise_join_at(PROMISE_HERE("join"), promises, count, values)
struct promise *promise_join_at(struct prof_trace_name *site,
                                struct promise *const *promises, size_t count,
                                uintptr_t *values);

/* Becomes what the first of them to be completed has become. The others go on,
 * and what becomes of them is discarded. */
#define promise_choose(promises, count)                                        \
    promise_choose_at(PROMISE_HERE("choose"), promises, count)
struct promise *promise_choose_at(struct prof_trace_name *site,
                                  struct promise *const *promises,
                                  size_t count);

/* The same, and cancels the others. */
#define promise_pick(promises, count)                                          \
    promise_pick_at(PROMISE_HERE("pick"), promises, count)
struct promise *promise_pick_at(struct prof_trace_name *site,
                                struct promise *const *promises, size_t count);

/* Resolves with 0 after (ns). */
#define promise_sleep(ns) promise_sleep_at(PROMISE_HERE("sleep"), ns)
struct promise *promise_sleep_at(struct prof_trace_name *site, uint64_t ns);

/* Becomes what (promise) becomes within (ns). After that it cancels it, and
 * fails with promise_timed_out. */
#define promise_timeout(promise, ns)                                           \
    promise_timeout_at(PROMISE_HERE("timeout"), promise, ns)
struct promise *promise_timeout_at(struct prof_trace_name *site,
                                   struct promise *promise, uint64_t ns);

/* ---- without a task: a callback */

/* All private. In what waits: a list that it is in. */
struct promise_link {
    struct promise_link *next, *previous;
};

/* Something to be called by the event loop. Initially all zero. */
struct promise_ready {
    struct promise_link link; /* private */
    void (*run)(struct promise_ready *ready);
};

/* Waits for a promise. Owned by the caller; MUST exist until it is called or
 * removed. Initially all zero. */
struct promise_watch {
    struct promise_ready ready; /* private */
    struct promise *promise;    /* while waiting, and when called; private */
    void (*completed)(struct promise_watch *watch);
    uint32_t object; /* who waits, for <prof/trace.h>; 0: nobody it knows */
    struct prof_loop_task *loop; /* and for <prof/loop.h>, or NULL */
};

/*
 * Calls watch->completed in the loop as soon as (promise) is completed, which
 * may be already. (promise) is not taken over, and is not NULL. Freeing a
 * promise that is watched is an error: it then fails.
 */
void promise_watch(struct promise *promise, struct promise_watch *watch);

/* Takes it back, at any time before the call. No effect if it does not wait. */
void promise_unwatch(struct promise_watch *watch);

/* ---- to be looked at */

/* Of all CPUs; what others are doing meanwhile may be missing. */
struct promise_stats {
    uint64_t made;   /* since boot */
    uint32_t live;   /* not yet freed by both sides */
    uint32_t errors; /* misuse */
    uint32_t bytes;  /* of memory for promises: the most that were live */
};
struct promise_stats promise_stats(void);

const char *promise_name(const struct promise *promise);

/* Never used again; 0 for NULL. */
uint32_t promise_id(const struct promise *promise);

#ifdef __cplusplus
}
#endif

#endif
