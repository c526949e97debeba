/* SPDX-License-Identifier: Apache-2.0 */

/* Events that are held until they are due. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "causal/held.h"

static void events_are_taken_in_due_order(void **state)
{
    enum { ROOM = 500 };
    _Alignas(8) char room[PROF_HELD_BYTES(ROOM)];
    static uint32_t numbers[ROOM];
    struct prof_held held;
    uint64_t last = 0, due;
    uint32_t random = 1;

    (void)state;
    prof_held_init(&held, room, ROOM);
    assert_null(prof_held_first(&held, &due));
    for (uint32_t i = 0; i < ROOM; i++) {
        random = random * 1664525 + 1013904223;
        numbers[i] = random >> 28; /* many at the same time */
        assert_true(prof_held_put(&held, numbers[i], &numbers[i]));
    }
    assert_false(prof_held_put(&held, 0, numbers));
    assert_int_equal(held.most, ROOM);
    for (uint32_t i = 0; i < ROOM; i += 3)
        assert_true(prof_held_withdraw(&held, &numbers[i]));
    assert_false(prof_held_withdraw(&held, &numbers[0]));
    assert_int_equal(held.count, ROOM - (ROOM + 2) / 3);
    for (const uint32_t *before = NULL; held.count != 0;) {
        const uint32_t *number;

        const void *event = prof_held_first(&held, &due);

        number = prof_held_take(&held, UINT64_MAX);
        assert_ptr_equal(number, event);
        assert_int_equal(*number, due);
        assert_int_not_equal((number - numbers) % 3, 0);
        assert_true(due >= last);
        if (before != NULL && due == last)
            assert_true(number > before); /* in the order they came */
        before = number;
        last = due;
    }
}

/* Beside a list that is searched. */
struct listed {
    uint64_t due[64]; /* 0: it is not held */
    uint32_t order[64];
    uint32_t next;
};

static uint32_t first_listed(const struct listed *list)
{
    uint32_t first = 64;

    for (uint32_t i = 0; i < 64; i++)
        if (list->due[i] != 0 &&
            (first == 64 || list->due[i] < list->due[first] ||
             (list->due[i] == list->due[first] &&
              list->order[i] < list->order[first])))
            first = i;
    return first;
}

/* Most come in the order in which they are due, some before, and some are
 * withdrawn. */
static void most_come_in_order(void **state)
{
    _Alignas(8) char room[PROF_HELD_BYTES(64)];
    struct listed list = {.next = 0};
    uint8_t events[64];
    struct prof_held held;
    uint32_t random = 1, count = 0;

    (void)state;
    prof_held_init(&held, room, 64);
    for (uint32_t step = 1; step < 200000; step++) {
        uint32_t at = (random = random * 1664525 + 1013904223) >> 26;
        uint32_t what = random >> 8 & 31, first = first_listed(&list);

        if (what < (step / 1000 % 2 != 0 ? 10u : 28u) && list.due[at] == 0) {
            list.due[at] = 1000 + step / 8 - (what == 0 ? random & 63 : 0);
            list.order[at] = list.next++;
            assert_true(prof_held_put(&held, list.due[at], &events[at]));
            count++;
        } else if (what == 31) {
            assert_int_equal(prof_held_withdraw(&held, &events[at]),
                             list.due[at] != 0);
            count -= list.due[at] != 0;
            list.due[at] = 0;
        } else if (first != 64) {
            assert_ptr_equal(prof_held_take(&held, UINT64_MAX), &events[first]);
            assert_int_equal(held.taken->due, list.due[first]);
            list.due[first] = 0;
            count--;
        }
        assert_int_equal(held.count, count);
    }
    assert_true(held.held > 50000 && held.most > 40);
}

static void what_is_not_due_stays(void **state)
{
    _Alignas(8) char room[PROF_HELD_BYTES(2)];
    struct prof_held held;
    int a;

    (void)state;
    prof_held_init(&held, room, 2);
    assert_true(prof_held_put(&held, 100, &a));
    assert_null(prof_held_take(&held, 99));
    assert_ptr_equal(prof_held_take(&held, 100), &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_taken_in_due_order),
        cmocka_unit_test(most_come_in_order),
        cmocka_unit_test(what_is_not_due_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
