/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A promise is given back to the pool when its owner has freed it, its producer
 * has completed it, and all who waited for it were called. So each of them may
 * use it until then, whatever the others do; its flags show a use that
 * comes later.
 */

#include "internal.h"
#include "trace.h"

#include <arch/cpu_number.h>

PROF_TRACE_NAME(promise_no_memory, "no memory");
PROF_TRACE_NAME(promise_timed_out, "timed out");
PROF_TRACE_NAME(promise_cancelled, "cancelled");

static const char unawaited[] = "failed, and nobody awaited it";
static const struct promise_producer ready_made = {.kind = PROF_TRACE_PROMISE};

/* ---- its life */

bool promise_is_here(const struct promise *promise)
{
    if (ARCH_CPUS_MAX == 1 || promise->cpu == arch_cpu_number())
        return true;
    promise_misused(promise, "was used on another CPU", NULL);
    return false;
}

static void release(struct promise *promise)
{
    const unsigned held = PROMISE_OWNED | PROMISE_PRODUCED | PROMISE_CALLING;

    if ((promise->flags & held) == 0 && promise->watchers == 0)
        promise_pool_give(promise);
}

struct promise *promise_new_at(struct prof_trace_name *site,
                               const struct promise_producer *producer,
                               void *context)
{
    struct promise *promise = promise_pool_take();

    if (promise == NULL)
        return NULL;
    promise->flags |= PROMISE_OWNED | PROMISE_PRODUCED;
    promise->producer = producer;
    promise->context = context;
    promise->site = site;
    task_trace_create(promise);
    if (producer != &ready_made)
        task_future_create(promise);
    return promise;
}

const char *promise_name(const struct promise *promise)
{
    return promise == NULL ? promise_no_memory.text : promise->site->text;
}

uint32_t promise_id(const struct promise *promise)
{
    return promise == NULL ? 0 : promise->id;
}

/* ---- who waits */

static void call_watcher(struct promise_ready *ready)
{
    struct promise_watch *watch =
        LIST_OWNER(ready, struct promise_watch, ready);
    struct promise *promise = watch->promise;

    promise->watchers--;
    promise->flags |= PROMISE_CALLING;
    watch->completed(watch); /* which may free, or reuse, what it is in */
    promise->flags &= (uint8_t)~PROMISE_CALLING;
    release(promise);
}

static void call_all(struct promise *promise)
{
    struct promise_link *link;

    while ((link = list_take(&promise->watches)) != NULL) {
        struct promise_ready *ready =
            LIST_OWNER(link, struct promise_ready, link);

        task_trace_woken(LIST_OWNER(ready, struct promise_watch, ready),
                         promise);
        promise_ready(ready);
    }
}

void promise_watch(struct promise *promise, struct promise_watch *watch)
{
    if (!promise_is_here(promise))
        return;
    watch->promise = promise;
    watch->ready.run = call_watcher;
    promise->watchers++;
    if (promise->state == PROMISE_PENDING) {
        list_add(&promise->watches, &watch->ready.link);
    } else {
        task_trace_woken(watch, promise);
        promise_ready(&watch->ready);
    }
}

void promise_unwatch(struct promise_watch *watch)
{
    if (watch->ready.link.next == NULL || list_empty(&watch->ready.link))
        return;
    list_remove(&watch->ready.link);
    watch->promise->watchers--;
    release(watch->promise);
}

/* ---- the producer's side */

static void set(struct promise *promise, enum promise_state state,
                uintptr_t value)
{
    promise->state = (uint8_t)state;
    promise->value = value;
    call_all(promise);
}

static bool may_complete(const struct promise *promise)
{
    if (!promise_is_here(promise))
        return false;
    if ((promise->flags & PROMISE_PRODUCED) != 0)
        return true;
    promise_misused(promise,
                    (promise->flags & PROMISE_LIVE) != 0
                        ? "was completed twice"
                        : "was completed again after its end",
                    NULL);
    return false;
}

bool promise_complete(struct promise *promise,
                      const struct promise_result *result)
{
    bool failed = result->state == PROMISE_FAILED;
    bool owned;
    struct promise_result before;

    if (promise == NULL || !may_complete(promise))
        return false;
    before = (struct promise_result){
        .state = (enum promise_state)promise->state,
        .why = (struct prof_trace_name *)promise->value};
    if (before.state == PROMISE_PENDING) {
        task_trace_complete(promise, result);
        task_future_end(promise, result->state);
    } else if (task_trace_goes_on(promise)) {
        task_trace_complete(promise, &before);
    }
    owned = (promise->flags & PROMISE_OWNED) != 0 &&
            promise->state == PROMISE_PENDING;
    promise->flags &= (uint8_t)~PROMISE_PRODUCED;
    if (owned) {
        set(promise, result->state,
            result->state == PROMISE_RESOLVED ? result->value
                                              : (uintptr_t)result->why);
        return true;
    }
    if (failed && promise->state == PROMISE_PENDING &&
        (promise->flags & PROMISE_READ) == 0)
        promise_misused(promise, unawaited, result->why->text);
    release(promise);
    return false;
}

bool promise_resolve(struct promise *promise, uintptr_t value)
{
    const struct promise_result result = {.state = PROMISE_RESOLVED,
                                          .value = value};

    return promise_complete(promise, &result);
}

bool promise_fail_for(struct promise *promise, struct prof_trace_name *why)
{
    const struct promise_result result = {.state = PROMISE_FAILED, .why = why};

    return promise_complete(promise, &result);
}

bool promise_stop(struct promise *promise)
{
    const struct promise_result result = {.state = PROMISE_CANCELLED,
                                          .why = &promise_cancelled};

    return promise_complete(promise, &result);
}

static struct promise *completed(const struct promise_result *result)
{
    struct promise *promise =
        promise_new_at(PROMISE_HERE("value"), &ready_made, NULL);

    if (promise != NULL)
        promise_complete(promise, result);
    return promise;
}

struct promise *promise_of(uintptr_t value)
{
    const struct promise_result result = {.state = PROMISE_RESOLVED,
                                          .value = value};

    return completed(&result);
}

struct promise *promise_failed(struct prof_trace_name *why)
{
    const struct promise_result result = {.state = PROMISE_FAILED, .why = why};

    return completed(&result);
}

/* ---- the owner's side */

enum promise_state promise_state(const struct promise *promise)
{
    return promise == NULL ? PROMISE_FAILED
                           : (enum promise_state)promise->state;
}

struct promise_result promise_result(struct promise *promise)
{
    struct promise_result result = {.state = promise_state(promise)};

    if (promise == NULL)
        result.why = &promise_no_memory;
    else if (result.state == PROMISE_RESOLVED)
        result.value = promise->value;
    else if (result.state != PROMISE_PENDING)
        result.why = (struct prof_trace_name *)promise->value;
    if (result.state != PROMISE_PENDING && promise != NULL)
        promise->flags |= PROMISE_READ;
    return result;
}

void promise_cancel(struct promise *promise)
{
    if (promise == NULL || !promise_is_here(promise) ||
        promise->state != PROMISE_PENDING)
        return;
    task_trace_cancel(promise);
    task_future_end(promise, PROMISE_CANCELLED);
    set(promise, PROMISE_CANCELLED, (uintptr_t)&promise_cancelled);
    if (promise->producer->cancel != NULL)
        promise->producer->cancel(promise, promise->context);
}

/* Nobody else will look at it. */
static void end(struct promise *promise)
{
    bool read = (promise->flags & PROMISE_READ) != 0;

    if (promise->state == PROMISE_RESOLVED && promise->producer->ended != NULL)
        promise->producer->ended(promise->context, promise->value, read);
    else if (promise->state == PROMISE_FAILED && !read)
        promise_misused(promise, unawaited,
                        ((struct prof_trace_name *)promise->value)->text);
}

/* Freed while it is awaited: those who wait are to know, and it is needless to
 * go on producing it. */
static void forsake(struct promise *promise)
{
    static PROF_TRACE_NAME(freed, "freed while awaited");
    const struct promise_result result = {.state = PROMISE_FAILED,
                                          .why = &freed};
    bool pending = promise->state == PROMISE_PENDING;

    promise_misused(promise, "was freed while it was awaited", NULL);
    if (pending && !task_trace_goes_on(promise))
        task_trace_complete(promise, &result);
    if (pending)
        task_future_end(promise, PROMISE_FAILED);
    set(promise, PROMISE_FAILED, (uintptr_t)&freed);
    if (pending && promise->producer->cancel != NULL)
        promise->producer->cancel(promise, promise->context);
}

void promise_free(struct promise *promise)
{
    if (promise == NULL || !promise_is_here(promise))
        return;
    if ((promise->flags & PROMISE_OWNED) == 0) {
        promise_misused(promise, "was freed twice", NULL);
        return;
    }
    if (promise->state != PROMISE_PENDING)
        end(promise);
    if (promise->watchers != 0)
        forsake(promise);
    promise->flags &= (uint8_t)~PROMISE_OWNED;
    release(promise);
}

void promise_ignore(struct promise *promise)
{
    if (promise != NULL && promise->state != PROMISE_RESOLVED)
        promise->flags |= PROMISE_READ;
    promise_free(promise);
}

void promise_discard(struct promise *promise)
{
    promise_cancel(promise);
    promise_ignore(promise);
}

void promise_become(struct promise *promise, struct promise *source)
{
    const enum promise_state state = promise_state(source);
    struct promise_result result = {.state = state};

    if (source == NULL)
        result.why = &promise_no_memory;
    else if (state == PROMISE_RESOLVED)
        result.value = source->value;
    else
        result.why = (struct prof_trace_name *)source->value;
    if (promise_complete(promise, &result) && state == PROMISE_RESOLVED) {
        promise->producer = source->producer;
        promise->context = source->context;
        source->producer = &ready_made;
    }
    promise_ignore(source);
}
