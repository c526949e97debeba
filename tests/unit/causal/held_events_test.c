/* SPDX-License-Identifier: Apache-2.0 */

/* Events that are held until they are due. */

#include "../unit.h"

#include "causal/held_events.h"

TEST(events_are_taken_in_due_order)
{
    enum { ROOM = 500 };
    _Alignas(8) char room[PROF_HELD_BYTES(ROOM)];
    static uint32_t numbers[ROOM];
    struct prof_held held;
    uint64_t last = 0;

    prof_held_init(&held, room, ROOM);
    assert_null(prof_held_first(&held));
    for (uint32_t i = 0; i < ROOM; i++) {
        numbers[i] = unit_below(16); /* many at the same time */
        assert_true(prof_held_put(&held, numbers[i], &numbers[i]));
    }
    assert_false(prof_held_put(&held, 0, numbers));
    assert_int_equal(held.used, ROOM);
    for (uint32_t i = 0; i < ROOM; i += 3)
        assert_true(prof_held_withdraw(&held, &numbers[i]));
    assert_false(prof_held_withdraw(&held, &numbers[0]));
    assert_int_equal(held.count, ROOM - (ROOM + 2) / 3);
    for (const uint32_t *before = NULL; held.count != 0;) {
        const void *first = prof_held_first(&held)->event;
        const struct prof_held_event *taken = prof_held_take(&held);
        const uint32_t *number = taken->event;
        uint64_t due = taken->due;

        assert_ptr_equal(number, first);
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
TEST(most_come_in_order)
{
    _Alignas(8) char room[PROF_HELD_BYTES(64)];
    struct listed list = {.next = 0};
    uint8_t events[64];
    struct prof_held held;
    uint32_t random = 1, count = 0;

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
            const struct prof_held_event *taken = prof_held_take(&held);

            assert_ptr_equal(taken->event, &events[first]);
            assert_int_equal(taken->due, list.due[first]);
            list.due[first] = 0;
            count--;
        }
        assert_int_equal(held.count, count);
    }
    assert_true(held.held > 50000 && held.used > 40);
}

/* As of a device that works on several requests: each is due before some of the
 * six that were held before it. */
TEST(nearly_in_order_none_is_in_the_heap)
{
    enum { ROOM = 500 };
    static char events[ROOM];
    _Alignas(8) static char room[PROF_HELD_BYTES(ROOM)];
    struct prof_held held;

    prof_held_init(&held, room, ROOM);
    for (uint32_t i = 0; i < ROOM; i++) {
        assert_true(prof_held_put(&held, 100 + i + unit_below(7), &events[i]));
        assert_int_equal(held.heap_count, 0);
    }
    for (uint64_t last = 0; held.count != 0;) {
        const struct prof_held_event *taken = prof_held_take(&held);

        assert_true(taken->due >= last);
        last = taken->due;
    }
    assert_null(prof_held_first(&held));
}

/* Those of an open loop, of which thousands are held: no one is compared with
 * more than one other. */
TEST(in_order_none_is_in_the_heap)
{
    enum { ROOM = 2000 };
    static char events[ROOM];
    _Alignas(8) static char room[PROF_HELD_BYTES(ROOM)];
    struct prof_held held;

    prof_held_init(&held, room, ROOM);
    for (uint32_t i = 0; i < ROOM; i++) {
        assert_true(prof_held_put(&held, 100 + i / 2, &events[i]));
        assert_int_equal(held.heap_count, 0);
    }
    /* others that are due before these do not change that */
    for (uint32_t i = 0; i < ROOM; i++) {
        assert_ptr_equal(prof_held_take(&held)->event, &events[i]);
        assert_true(prof_held_put(&held, 99, &events[i]));
        assert_ptr_equal(prof_held_take(&held)->event, &events[i]);
    }
    assert_null(prof_held_first(&held));
}
