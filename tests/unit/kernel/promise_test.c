/* SPDX-License-Identifier: Apache-2.0 */
/* Promises, and what is made of several of them. */

#include "../unit.h"

#include "promise_blocks.h"

/* ---- one promise */

TEST(a_promise_is_completed_once)
{
    struct promise *promise = pending();

    is(promise, PROMISE_PENDING);
    assert_true(promise_resolve(promise, 5));
    assert_false(promise_resolve(promise, 6));
    assert_string_equal(last_line, "pending was completed twice ");
    assert_false(promise_fail(promise, "late"));
    assert_int_equal(lines, 2);
    ends_as(promise, PROMISE_RESOLVED, 5);
    assert_int_equal(ends_read, 1);
    promise = pending();
    assert_true(promise_fail(promise, "reason"));
    fails_with(promise, "reason");
}

TEST(either_side_may_end_first)
{
    struct promise *promise = pending();

    promise_free(promise);
    assert_int_equal(live, 1);
    assert_false(promise_resolve(promise, 1));
    assert_int_equal(ends + lines, 0);
    promise = pending();
    promise_cancel(promise);
    assert_int_equal(cancels, 1);
    promise_cancel(promise);
    assert_int_equal(cancels, 1);
    ends_as(promise, PROMISE_CANCELLED, 0);
}

TEST(failures_that_nobody_reads_are_reported)
{
    struct promise *promise = pending();

    promise_fail(promise, "first");
    promise_free(promise);
    assert_string_equal(last_line,
                        "pending failed, and nobody awaited it first");
    promise = pending();
    promise_free(promise);
    promise_fail(promise, "second");
    assert_string_equal(last_line,
                        "pending failed, and nobody awaited it second");
    promise = pending();
    promise_resolve(promise, 1);
    promise_free(promise);
    assert_int_equal(lines, 2);
    assert_int_equal(ends, 1);
    assert_int_equal(ends_read, 0);
}

static unsigned calls;
static struct promise_result seen;

static void on_completed(struct promise_watch *watch)
{
    calls++;
    seen = promise_result(watch->promise);
}

TEST(watches_are_called_in_the_loop)
{
    struct promise *promise = pending();
    struct promise_watch watches[3] = {{.completed = on_completed},
                                       {.completed = on_completed},
                                       {.completed = on_completed}};

    calls = 0;
    for (unsigned i = 0; i < 3; i++)
        promise_watch(promise, &watches[i]);
    promise_unwatch(&watches[1]);
    promise_resolve(promise, 3);
    assert_int_equal(calls, 0);
    promise_unwatch(&watches[2]);
    turn_all();
    assert_int_equal(calls, 1);
    assert_int_equal(seen.value, 3);
    promise_watch(promise, &watches[1]);
    turn_all();
    assert_int_equal(calls, 2);
    promise_unwatch(&watches[1]);
    promise_free(promise);
}

/* Before it is completed, and between that and the call. */
TEST(freed_while_awaited)
{
    struct promise *promise = pending();
    struct promise_watch watch = {.completed = on_completed};

    promise_watch(promise, &watch);
    promise_free(promise);
    assert_int_equal(cancels, 1);
    turn_all();
    assert_int_equal(seen.state, PROMISE_FAILED);
    assert_string_equal(seen.why->text, "freed while awaited");
    promise = pending();
    promise_watch(promise, &watch);
    promise_resolve(promise, 1);
    promise_free(promise);
    assert_int_equal(ends, 1);
    turn_all();
    assert_string_equal(seen.why->text, "freed while awaited");
    assert_int_equal(lines, 2);
}

/* ---- bind and catch */

static struct promise *twice(void *context, uintptr_t value)
{
    (void)context;
    return promise_of(2 * value);
}

static struct promise *given(void *promise, uintptr_t value)
{
    (void)value;
    return promise;
}

static struct promise *reason_length(void *context, struct prof_trace_name *why)
{
    (void)context;
    return promise_of(strlen(why->text));
}

TEST(bind_continues)
{
    struct promise *first = pending();
    struct promise *last =
        promise_bind(promise_bind(first, twice, NULL), twice, NULL);

    turn_all();
    is(last, PROMISE_PENDING);
    promise_resolve(first, 5);
    turn_all();
    ends_as(last, PROMISE_RESOLVED, 20);
    assert_int_equal(ends_read, 1);
    first = pending();
    last = promise_bind(first, twice, NULL);
    promise_fail(first, "no");
    turn_all();
    fails_with(last, "no");
    assert_int_equal(lines, 0);
}

/* Who waits for (promise), for the trace. */
static uint32_t waiting_object(const struct promise *promise)
{
    const struct promise_ready *ready =
        LIST_OWNER(promise->watches.next, struct promise_ready, link);

    return LIST_OWNER(ready, struct promise_watch, ready)->object;
}

TEST(bind_is_cancelled_in_both_halves)
{
    struct promise *second = pending();
    struct promise *last = promise_bind(pending(), twice, NULL);

    promise_cancel(last);
    turn_all();
    promise_free(last);
    assert_int_equal(cancels, 1);
    last = promise_bind(promise_of(1), given, second);
    turn_all();
    is(second, PROMISE_PENDING);
    assert_int_equal(waiting_object(second), PROF_TRACE_NONE);
    promise_cancel(last);
    turn_all();
    promise_free(last);
    assert_int_equal(cancels, 2);
}

/* The function of a bind is what cancels it. */
static struct promise *suicide;

static struct promise *cancel_it(void *context, uintptr_t value)
{
    (void)context;
    (void)value;
    promise_cancel(suicide);
    return pending();
}

TEST(bind_may_cancel_itself)
{
    suicide = promise_bind(promise_of(1), cancel_it, NULL);
    turn_all();
    assert_int_equal(cancels, 1);
    ends_as(suicide, PROMISE_CANCELLED, 0);
}

TEST(catch_catches)
{
    struct promise *first = pending(), *last;

    last = promise_catch(first, reason_length, NULL);
    promise_fail(first, "seven");
    turn_all();
    ends_as(last, PROMISE_RESOLVED, 5);
    last = promise_catch(promise_of(8), reason_length, NULL);
    turn_all();
    ends_as(last, PROMISE_RESOLVED, 8);
    last = promise_catch(NULL, reason_length, NULL);
    turn_all();
    ends_as(last, PROMISE_RESOLVED, strlen("no memory"));
}

/* ---- several */

TEST(join_waits_for_all)
{
    struct promise *inputs[] = {pending(), pending(), pending()};
    uintptr_t values[3];
    struct promise *all = promise_join(inputs, 3, values);

    promise_resolve(inputs[2], 30);
    promise_resolve(inputs[0], 10);
    turn_all();
    is(all, PROMISE_PENDING);
    promise_resolve(inputs[1], 20);
    turn_all();
    ends_as(all, PROMISE_RESOLVED, 3);
    assert_int_equal(values[0] + values[1] + values[2], 60);
    assert_int_equal(values[1], 20);
    ends_as(promise_join(NULL, 0, NULL), PROMISE_RESOLVED, 0);
}

TEST(join_fails_as_the_first)
{
    struct promise *inputs[] = {pending(), pending(), pending()};
    struct promise *all = promise_join(inputs, 3, NULL);

    promise_fail(inputs[1], "one");
    promise_fail(inputs[2], "two");
    turn_all();
    is(all, PROMISE_PENDING);
    promise_resolve(inputs[0], 1);
    turn_all();
    fails_with(all, "one");
    assert_int_equal(lines, 0);
    assert_int_equal(ends_read, 0);
}

TEST(choose_leaves_the_others)
{
    struct promise *inputs[] = {pending(), pending(), pending()};
    struct promise *first = promise_choose(inputs, 3);

    promise_resolve(inputs[1], 2);
    turn_all();
    ends_as(first, PROMISE_RESOLVED, 2);
    assert_int_equal(ends_read, 1);
    assert_int_equal(cancels, 0);
    promise_fail(inputs[0], "nobody minds");
    promise_resolve(inputs[2], 3);
    assert_int_equal(lines, 0);
    fails_with(promise_choose(NULL, 0), "nothing to choose from");
}

TEST(pick_cancels_the_others)
{
    struct promise *inputs[] = {pending(), pending(), pending()};
    struct promise *first = promise_pick(inputs, 3);

    promise_resolve(inputs[1], 2);
    promise_resolve(inputs[2], 3);
    turn_all();
    assert_int_equal(cancels, 1);
    assert_int_equal(ends, 1);
    assert_int_equal(ends_read, 0);
    ends_as(first, PROMISE_RESOLVED, 2);
    assert_int_equal(ends_read, 1);
    inputs[0] = pending();
    inputs[1] = pending();
    first = promise_pick(inputs, 2);
    promise_cancel(first);
    promise_free(first);
    assert_int_equal(cancels, 3);
}

TEST(sleep_and_timeout)
{
    struct promise *slept = promise_sleep(100);
    struct promise *promise = pending(), *late, *in_time;

    pass(99);
    is(slept, PROMISE_PENDING);
    pass(1);
    ends_as(slept, PROMISE_RESOLVED, 0);
    late = promise_timeout(pending(), 50);
    in_time = promise_timeout(promise, 50);
    pass(49);
    promise_resolve(promise, 4);
    pass(1);
    ends_as(in_time, PROMISE_RESOLVED, 4);
    assert_ptr_equal(promise_result(late).why, &promise_timed_out);
    promise_free(late);
    assert_int_equal(cancels, 1);
}
