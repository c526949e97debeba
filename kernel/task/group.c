/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join, choose, pick and timeout: a group waits for several promises, and its
 * own is completed by all of them or by the first.
 */

#include "internal.h"
#include "trace.h"

struct input {
    struct promise *promise; /* owned; NULL: done with */
    struct promise_watch watch;
    struct group *group;
};

struct group {
    struct promise *own;         /* produced here */
    uintptr_t *values;           /* of a join */
    struct promise_result first; /* of a join: of the first not resolved */
    size_t count, left;          /* inputs, and those pending */
    struct prof_loop_task loop;
    struct input inputs[];
};

/* It has become (state). */
static void end(struct group *group, enum promise_state state)
{
    task_loop_end(&group->loop, state);
    task_free(group);
}

static void release_inputs(struct group *group, enum promise_state state,
                           void (*release)(struct promise *promise))
{
    for (size_t i = 0; i < group->count; i++) {
        promise_unwatch(&group->inputs[i].watch);
        release(group->inputs[i].promise);
    }
    end(group, state);
}

static void on_cancel(struct promise *own, void *context)
{
    release_inputs(context, PROMISE_CANCELLED, promise_discard);
    promise_stop(own);
}

#define GROUP_PRODUCER(name, NAME)                                             \
    static const struct promise_producer name##_producer = {                   \
        .kind = PROF_TRACE_##NAME,                                             \
        .cancel = on_cancel,                                                   \
    }
GROUP_PRODUCER(join, JOIN);
GROUP_PRODUCER(choose, CHOOSE);
GROUP_PRODUCER(pick, PICK);
GROUP_PRODUCER(timeout, TIMEOUT);

/* ---- all of them */

/* A value that there is no room for stays unread, so that what it refers to is
 * released. */
static void on_one(struct promise_watch *watch)
{
    struct input *input = LIST_OWNER(watch, struct input, watch);
    struct group *group = input->group;
    const enum promise_state state = promise_state(input->promise);
    struct task_trace_callback callback;

    task_trace_begin(&callback, group->own, &group->loop);
    task_trace_read(input->promise);
    if (state != PROMISE_RESOLVED && group->first.state == PROMISE_RESOLVED)
        group->first = promise_result(input->promise);
    else if (state == PROMISE_RESOLVED && group->values != NULL)
        group->values[input - group->inputs] =
            promise_result(input->promise).value;
    promise_ignore(input->promise);
    input->promise = NULL;
    if (--group->left == 0) {
        promise_complete(group->own, &group->first);
        end(group, group->first.state);
    }
    task_trace_return(&callback);
}

/* ---- the first of them */

/* The group's own promise is completed before the others are released, which
 * may call back. */
static void on_first(struct promise_watch *watch)
{
    struct input *input = LIST_OWNER(watch, struct input, watch);
    struct group *group = input->group;
    const struct promise_producer *producer = group->own->producer;
    const enum promise_state state = promise_state(input->promise);
    struct task_trace_callback callback;

    task_trace_begin(&callback, group->own, &group->loop);
    task_trace_read(input->promise);
    promise_become(group->own, input->promise);
    input->promise = NULL;
    release_inputs(group, state,
                   producer == &choose_producer ? promise_ignore
                                                : promise_discard);
    task_trace_return(&callback);
}

/* Inputs of a timeout: the promise, and the time. If both are there, the
 * promise came in time. */
static void on_either(struct promise_watch *watch)
{
    struct group *group = LIST_OWNER(watch, struct input, watch)->group;
    struct promise *promise = group->inputs[0].promise;

    if (promise_state(promise) != PROMISE_PENDING) {
        promise_unwatch(&group->inputs[0].watch);
        on_first(&group->inputs[0].watch);
        return;
    }
    struct task_trace_callback callback;

    task_trace_begin(&callback, group->own, &group->loop);
    task_trace_read(group->inputs[1].promise);
    promise_fail_for(group->own, &promise_timed_out);
    release_inputs(group, PROMISE_FAILED, promise_discard);
    task_trace_return(&callback);
}

/* ---- making one */

static bool all_there(struct promise *const *promises, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (promises[i] == NULL || !promise_is_here(promises[i]))
            return false;
    return true;
}

static struct group *new_group(struct prof_trace_name *site,
                               const struct promise_producer *producer,
                               size_t count)
{
    struct group *group;

    if (count > (SIZE_MAX - sizeof *group) / sizeof group->inputs[0])
        return NULL;
    group = task_alloc(sizeof *group + count * sizeof group->inputs[0]);
    if (group == NULL)
        return NULL;
    *group = (struct group){
        .own = promise_new_at(site, producer, group),
        .first = {.state = PROMISE_RESOLVED, .value = count},
        .count = count,
        .left = count,
    };
    if (group->own == NULL) {
        task_free(group);
        return NULL;
    }
    task_loop_create(&group->loop, group->own);
    return group;
}

/* Takes over the promises, or discards them all and returns NULL. */
static struct group *make(struct prof_trace_name *site,
                          const struct promise_producer *producer,
                          struct promise *const *promises, size_t count,
                          void (*completed)(struct promise_watch *watch))
{
    struct group *group = NULL;

    if (all_there(promises, count))
        group = new_group(site, producer, count);
    for (size_t i = 0; i < count; i++) {
        if (group == NULL) {
            promise_discard(promises[i]);
            continue;
        }
        group->inputs[i] = (struct input){
            .promise = promises[i],
            .watch = {.completed = completed,
                      .object = group->own->trace,
                      .loop = &group->loop},
            .group = group,
        };
        task_trace_awaits(group->own, promises[i]);
        promise_watch(promises[i], &group->inputs[i].watch);
    }
    return group;
}

struct promise *promise_join_at(struct prof_trace_name *site,
                                struct promise *const *promises, size_t count,
                                uintptr_t *values)
{
    struct group *group = make(site, &join_producer, promises, count, on_one);

    if (group == NULL)
        return NULL;
    if (count != 0) {
        group->values = values;
        return group->own;
    }
    struct promise *own = group->own;

    end(group, PROMISE_RESOLVED);
    promise_resolve(own, 0);
    return own;
}

static struct promise *first_of(struct prof_trace_name *site,
                                const struct promise_producer *producer,
                                struct promise *const *promises, size_t count)
{
    static PROF_TRACE_NAME(nothing, "nothing to choose from");
    struct group *group;

    if (count == 0)
        return promise_failed(&nothing);
    group = make(site, producer, promises, count, on_first);
    return group == NULL ? NULL : group->own;
}

struct promise *promise_choose_at(struct prof_trace_name *site,
                                  struct promise *const *promises, size_t count)
{
    return first_of(site, &choose_producer, promises, count);
}

struct promise *promise_pick_at(struct prof_trace_name *site,
                                struct promise *const *promises, size_t count)
{
    return first_of(site, &pick_producer, promises, count);
}

struct promise *promise_timeout_at(struct prof_trace_name *site,
                                   struct promise *promise, uint64_t ns)
{
    struct promise *const inputs[] = {promise, promise_sleep(ns)};
    struct group *group = make(site, &timeout_producer, inputs, 2, on_either);

    return group == NULL ? NULL : group->own;
}
