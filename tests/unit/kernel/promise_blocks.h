/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_KERNEL_PROMISE_BLOCKS_H
#define TESTS_UNIT_KERNEL_PROMISE_BLOCKS_H

/*
 * In place of the pool: each promise has a block of memory of its own, so that
 * the address sanitizer sees any use after its end. To be included once.
 */

#include "promises.h"

static unsigned live;
static uint32_t last_id;

struct promise *promise_pool_take(void)
{
    struct promise *promise = task_alloc(sizeof *promise);

    if (promise == NULL)
        return NULL;
    live++;
    *promise = (struct promise){.id = ++last_id, .flags = PROMISE_LIVE};
    list_init(&promise->watches);
    return promise;
}

void promise_pool_give(struct promise *promise)
{
    live--;
    task_free(promise);
}

void promise_misused(const struct promise *promise, const char *what,
                     const char *detail)
{
    console_line("%s %s %s", promise == NULL ? "" : promise_name(promise), what,
                 detail == NULL ? "" : detail);
}

static inline void nothing_left(void)
{
    assert_int_equal(live, 0);
    assert_int_equal(blocks, 0);
    assert_null(timers);
}

/* Of every test, unless it begins with another one. */
FIXTURE(fresh, nothing_left);

static inline void is(struct promise *promise, enum promise_state state)
{
    assert_int_equal(promise_state(promise), state);
}

static inline void ends_as(struct promise *promise, enum promise_state state,
                           uintptr_t value)
{
    const struct promise_result result = promise_result(promise);

    assert_int_equal(result.state, state);
    assert_int_equal(result.value, value);
    promise_free(promise);
}

static inline void fails_with(struct promise *promise, const char *reason)
{
    const struct promise_result result = promise_result(promise);

    assert_int_equal(result.state, PROMISE_FAILED);
    assert_string_equal(result.why->text, reason);
    promise_free(promise);
}

#endif
