/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind and catch: a link waits for its first promise; a function then returns
 * the second, and the link's own promise becomes that.
 */

#include "internal.h"
#include "trace.h"

struct link {
    struct promise *own;    /* produced here */
    struct promise *source; /* owned: the first one, later the second */
    struct promise_watch watch;
    promise_then *then;       /* of a bind */
    promise_handler *handler; /* of a catch */
    void *context;
    bool busy; /* in that function */
    struct prof_loop_task loop;
};

static void end(struct link *link)
{
    struct promise *source = link->source;

    link->source = NULL;
    task_loop_end(&link->loop, promise_state(source));
    promise_become(link->own, source);
    task_free(link);
}

static void give_up(struct link *link)
{
    struct promise *own = link->own;

    promise_discard(link->source);
    task_loop_end(&link->loop, PROMISE_CANCELLED);
    task_free(link);
    promise_stop(own);
}

static void on_cancel(struct promise *own, void *context)
{
    struct link *link = context;

    (void)own;
    if (link->busy)
        return;
    promise_unwatch(&link->watch);
    give_up(link);
}

static const struct promise_producer bind_producer = {
    .kind = PROF_TRACE_BIND,
    .cancel = on_cancel,
};
static const struct promise_producer catch_producer = {
    .kind = PROF_TRACE_CATCH,
    .cancel = on_cancel,
};

static void on_second(struct promise_watch *watch)
{
    end(LIST_OWNER(watch, struct link, watch));
}

/* Calls the function, which may even cancel the link's own promise. */
static void advance(struct link *link)
{
    struct promise *first = link->source;
    const struct promise_result result = promise_result(first);

    link->busy = true;
    link->source = link->then != NULL
                       ? link->then(link->context, result.value)
                       : link->handler(link->context, result.why);
    link->busy = false;
    promise_free(first);
    if (link->own->state != PROMISE_PENDING) {
        give_up(link);
    } else if (link->source == NULL) {
        end(link);
    } else if (!promise_is_here(link->source)) {
        link->source = NULL;
        end(link);
    } else {
        task_trace_becomes(link->own, link->source);
        link->watch.completed = on_second;
        link->watch.object = PROF_TRACE_NONE; /* they are one now */
        link->watch.loop = NULL;
        promise_watch(link->source, &link->watch);
    }
}

static void on_first(struct promise_watch *watch)
{
    struct link *link = LIST_OWNER(watch, struct link, watch);
    const enum promise_state goes_on =
        link->then != NULL ? PROMISE_RESOLVED : PROMISE_FAILED;
    struct task_trace_callback callback;

    task_trace_begin(&callback, link->own, &link->loop);
    task_trace_read(link->source);
    if (promise_state(link->source) == goes_on)
        advance(link);
    else
        end(link);
    task_trace_return(&callback);
}

static struct promise *make(struct prof_trace_name *site,
                            const struct promise_producer *producer,
                            const struct link *contents)
{
    struct link *link = NULL;

    if (contents->source != NULL && promise_is_here(contents->source))
        link = task_alloc(sizeof *link);
    if (link != NULL) {
        *link = *contents;
        link->own = promise_new_at(site, producer, link);
    }
    if (link == NULL || link->own == NULL) {
        task_free(link);
        promise_discard(contents->source);
        return NULL;
    }
    link->watch.completed = on_first;
    link->watch.object = link->own->trace;
    link->watch.loop = &link->loop;
    task_loop_create(&link->loop, link->own);
    task_trace_awaits(link->own, link->source);
    promise_watch(link->source, &link->watch);
    return link->own;
}

struct promise *promise_bind_at(struct prof_trace_name *site,
                                struct promise *first, promise_then *then,
                                void *context)
{
    const struct link link = {
        .source = first, .then = then, .context = context};

    return make(site, &bind_producer, &link);
}

struct promise *promise_catch_at(struct prof_trace_name *site,
                                 struct promise *first,
                                 promise_handler *handler, void *context)
{
    const struct link link = {
        .source = first, .handler = handler, .context = context};

    if (first == NULL)
        return handler(context, &promise_no_memory);
    return make(site, &catch_producer, &link);
}
