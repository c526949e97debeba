/* SPDX-License-Identifier: Apache-2.0 */
/* Promises used after their end, with the kernel's own pool: a message each,
 * and nothing else. */

#include "../unit.h"

#include "promises.h"

FIXTURE(fresh, NULL);

TEST(the_pool_reuses_what_has_ended)
{
    uint32_t bytes;

    promise_free(promise_of(1));
    bytes = promise_stats().bytes;
    for (unsigned i = 0; i < 1000; i++)
        promise_free(promise_of(i));
    assert_int_equal(promise_stats().bytes, bytes);
    assert_int_equal(promise_stats().live, 0);
    assert_int_equal(promise_stats().made, 1001);
}

TEST(use_after_the_end_is_reported)
{
    struct promise *promise = pending();
    uint32_t errors = promise_stats().errors;

    promise_resolve(promise, 1);
    promise_free(promise);
    assert_false(promise_resolve(promise, 2));
    assert_non_null(strstr(last_line, "was completed again after its end"));
    promise_free(promise);
    assert_non_null(strstr(last_line, "was freed twice"));
    assert_non_null(strstr(last_line, "promise: pending ("));
    promise_cancel(promise);
    assert_int_equal(promise_stats().errors - errors, 2);
    assert_int_equal(promise_stats().live, 0);
}

TEST(a_million_are_live)
{
    enum { MANY = 1000000 };
    struct promise **many = malloc(MANY * sizeof *many);

    for (unsigned i = 0; i < MANY; i++) {
        many[i] = pending();
        assert_non_null(many[i]);
    }
    assert_int_equal(promise_stats().live, MANY);
    assert_true(promise_stats().bytes <= (MANY + 64) * 64ul);
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(promise_resolve(many[i], i));
        promise_free(many[i]);
    }
    assert_int_equal(promise_stats().live, 0);
    free(many);
}

TEST(no_memory_is_a_failure)
{
    struct promise *promise, *taken = NULL;

    refuse_at = 0;
    while ((promise = promise_new(&manual, taken, "taken")) != NULL)
        taken = promise;
    assert_ptr_equal(promise_result(NULL).why, &promise_no_memory);
    assert_int_equal(promise_state(NULL), PROMISE_FAILED);
    promise_free(NULL);
    promise_cancel(NULL);
    while (taken != NULL) {
        promise = taken->context;
        promise_free(taken);
        promise_resolve(taken, 0);
        taken = promise;
    }
    assert_int_equal(promise_stats().live, 0);
}
