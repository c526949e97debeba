/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROMISE_H
#define KERNEL_PROMISE_H

/*
 * Promises: results of asynchronous calls.
 *
 * A promise is pending until it is completed, exactly once: resolved with a
 * value, failed with a reason, or cancelled. It has two sides:
 *
 *     owner      one at a time, at first the caller of the function that
 *                returned it. Awaits it, passes it to a function that takes it
 *                over, or frees it; exactly one of these, once.
 *     producer   the code that created it by promise_new(). Completes it
 *                exactly once, even if it was cancelled or freed meanwhile.
 *
 * A promise exists until both have done so; neither needs to know of the other.
 *
 * If there is no memory, a function that returns a promise returns NULL. All
 * functions that take a promise accept NULL, as one that has failed for that
 * reason. So only the last one of a chain of calls needs to be checked.
 *
 * Waiters are called by the event loop, never by promise_resolve() itself, in
 * the order in which promises were completed. Misuse (a promise that is
 * completed or freed twice, is freed while awaited, or has failed and was never
 * checked) is counted and prints a line that begins with "promise:", without
 * other effects.
 *
 * Traces and messages name a promise by the source location of the call that
 * created it: hence the macros over functions in _at().
 *
 * Contexts: thread, on the CPU that created the promise. Interrupts defer to
 * the loop (loop.h).
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

/* Reasons of failures in the kernel; compare the pointers. */
extern struct prof_trace_name promise_no_memory, promise_timed_out,
    promise_cancelled;

/* A site for this source location, with a constant text. */
#define PROMISE_HERE(text)                                                     \
    (__extension__({                                                           \
        static PROF_TRACE_SITE(promise_here_, text);                           \
        &promise_here_;                                                        \
    }))

/* ---- the owner's side */

/* Returns the state of (promise). */
enum promise_state promise_state(const struct promise *promise);

/* Returns the result of (promise), which then counts as read: the caller owns
 * what its value refers to. */
struct promise_result promise_result(struct promise *promise);

/*
 * Cancels (promise) if it is pending: asks its producer to stop. The promise
 * must still be freed.
 */
void promise_cancel(struct promise *promise);

/*
 * Frees (promise). Its producer continues, and the value is discarded; cancel
 * the promise first to stop the producer.
 */
void promise_free(struct promise *promise);

/* ---- the producer's side */

/* Functions of a producer; each may be NULL. */
struct promise_producer {
    enum prof_trace_kind kind;

    /* Stops the work. The producer completes the promise, now or later, in any
     * state. Called at most once, and not after completion. */
    void (*cancel)(struct promise *promise, void *context);

    /*
     * The owner has freed a promise that was resolved. Unless (read), nobody
     * has taken the value, and the producer releases what it refers to.
     */
    void (*ended)(void *context, uintptr_t value, bool read);
};

/* Creates a pending promise with a constant (name); NULL: no memory. (producer)
 * MUST exist as long as the promise does. */
#define promise_new(producer, context, name)                                   \
    promise_new_at(PROMISE_HERE(name), producer, context)
struct promise *promise_new_at(struct prof_trace_name *site,
                               const struct promise_producer *producer,
                               void *context);

/*
 * Complete (promise), and end the producer's side. Return true if it has an
 * owner, who may read it; false if it was freed, and then `ended` is not
 * called.
 */
bool promise_resolve(struct promise *promise, uintptr_t value);
#define promise_fail(promise, reason)                                          \
    promise_fail_for(promise, PROMISE_HERE(reason)) /* a constant text */
bool promise_fail_for(struct promise *promise, struct prof_trace_name *why);

/* Completes (promise) as cancelled, for a producer that stops by itself.
 * Returns as promise_resolve(). */
bool promise_stop(struct promise *promise);

/* Return promises that are completed from the start. */
struct promise *promise_of(uintptr_t value);
struct promise *promise_failed(struct prof_trace_name *why);

/* ---- combinators, which take over the promises they are passed */

/* Continuations: with the (value), or after a failure with its reason. */
typedef struct promise *promise_then(void *context, uintptr_t value);
typedef struct promise *promise_handler(void *context,
                                        struct prof_trace_name *why);

/* Calls (then) with the value of (first) when it is resolved, and completes
 * like the promise that (then) returns. A failure of (first) is passed on. */
#define promise_bind(first, then, context)                                     \
    promise_bind_at(PROMISE_HERE("bind"), first, then, context)
struct promise *promise_bind_at(struct prof_trace_name *site,
                                struct promise *first, promise_then *then,
                                void *context);

/* Resolves with the value of (first); or, if (first) fails, completes like the
 * promise that (handler) returns. */
#define promise_catch(first, handler, context)                                 \
    promise_catch_at(PROMISE_HERE("catch"), first, handler, context)
struct promise *promise_catch_at(struct prof_trace_name *site,
                                 struct promise *first,
                                 promise_handler *handler, void *context);

/*
 * Resolves with (count) when all (count) promises are resolved. Stores their
 * values in (values), which MAY be NULL. If some are not resolved, completes
 * like the first of these, but not before all are completed.
 */
#define promise_join(promises, count, values)                                  \
    promise_join_at(PROMISE_HERE("join"), promises, count, values)
struct promise *promise_join_at(struct prof_trace_name *site,
                                struct promise *const *promises, size_t count,
                                uintptr_t *values);

/* Completes like the first of the (count) promises to be completed. The others
 * continue, and their results are discarded. */
#define promise_choose(promises, count)                                        \
    promise_choose_at(PROMISE_HERE("choose"), promises, count)
struct promise *promise_choose_at(struct prof_trace_name *site,
                                  struct promise *const *promises,
                                  size_t count);

/* Like promise_choose(), and cancels the others. */
#define promise_pick(promises, count)                                          \
    promise_pick_at(PROMISE_HERE("pick"), promises, count)
struct promise *promise_pick_at(struct prof_trace_name *site,
                                struct promise *const *promises, size_t count);

/* Resolves with 0 after (ns) nanoseconds. */
#define promise_sleep(ns) promise_sleep_at(PROMISE_HERE("sleep"), ns)
struct promise *promise_sleep_at(struct prof_trace_name *site, uint64_t ns);

/* Completes like (promise) if that is completed within (ns) nanoseconds.
 * Otherwise cancels (promise), and fails with promise_timed_out. */
#define promise_timeout(promise, ns)                                           \
    promise_timeout_at(PROMISE_HERE("timeout"), promise, ns)
struct promise *promise_timeout_at(struct prof_trace_name *site,
                                   struct promise *promise, uint64_t ns);

/* ---- callbacks, for waiting without a task */

/* Private: links a waiter into a list. */
struct promise_link {
    struct promise_link *next, *previous;
};

/* A call by the event loop. Zeroed at first. */
struct promise_ready {
    struct promise_link link; /* private */
    void (*run)(struct promise_ready *ready);
};

/* A waiter of a promise. Owned by the caller, zeroed at first; MUST exist until
 * it is called or removed. */
struct promise_watch {
    struct promise_ready ready; /* private */
    struct promise *promise;    /* private: set until the call has ended */
    void (*completed)(struct promise_watch *watch);
    uint32_t object; /* number of the waiter in <prof/trace.h>; 0: none */
    struct prof_loop_task *loop; /* waiter in <prof/loop.h>, or NULL */
};

/*
 * Calls watch->completed in the loop as soon as (promise) is completed, which
 * it may be already. (promise) is not taken over, and MUST NOT be NULL. Freeing
 * a promise that is watched is an error: it then fails.
 */
void promise_watch(struct promise *promise, struct promise_watch *watch);

/* Removes (watch), at any time before its call. No effect if it does not
 * wait. */
void promise_unwatch(struct promise_watch *watch);

/* ---- statistics and names */

/* Counts of all CPUs. Concurrent calls on other CPUs may be missing. */
struct promise_stats {
    uint64_t made;   /* promises created since boot */
    uint32_t live;   /* promises not yet freed by both sides */
    uint32_t errors; /* misuse */
    uint32_t bytes;  /* of memory for promises: enough for the most that were
                        live */
};
struct promise_stats promise_stats(void);

/* Returns the name of (promise). */
const char *promise_name(const struct promise *promise);

/* Returns the number of (promise), which is never reused; 0 for NULL. */
uint32_t promise_id(const struct promise *promise);

#ifdef __cplusplus
}
#endif

#endif
