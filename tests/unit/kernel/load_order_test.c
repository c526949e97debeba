/* SPDX-License-Identifier: Apache-2.0 */
/* The order of clients, held against one that is searched from end to end. */

#include "../unit.h"

#include "../../../kernel/load/load.h"
#include "../../../kernel/load/order.h"

#define STEPS 20000u
#define SOON 50u

static uint64_t times[LOAD_CLIENTS_MAX];

static void begin(uint32_t count)
{
    load_order_begin(count);
    memset(times, 0xff, sizeof times);
}

static void set(uint32_t number, uint64_t at)
{
    load_order_set(number, at);
    times[number] = at;
}

static void check_first(uint32_t count)
{
    uint32_t first = 0, number = count, idle = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (times[i] < times[first])
            first = i;
        idle += times[i] == UINT64_MAX;
    }
    assert_true(load_order_first(&number) == times[first]);
    if (times[first] != UINT64_MAX)
        assert_int_equal(number, first);
    assert_int_equal(load_order_idle(&number), idle != 0);
    if (idle != 0)
        assert_true(number < count && times[number] == UINT64_MAX);
}

static void change_some(uint32_t count)
{
    begin(count);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t at = unit_below(3) == 0 ? UINT64_MAX : unit_below(SOON);

        check_first(count);
        set((uint32_t)unit_below(count), at);
    }
}

TEST(the_first_one_is_the_first)
{
    change_some(1);
    change_some(2);
    change_some(9);
}

TEST(all_leave_in_order)
{
    uint64_t last = 0;
    uint32_t number = 0;

    begin(LOAD_CLIENTS_MAX);
    for (uint32_t i = 0; i < LOAD_CLIENTS_MAX; i++)
        set(i, unit_below(SOON));
    assert_false(load_order_idle(&number));
    for (uint32_t i = 0; i < LOAD_CLIENTS_MAX; i++) {
        check_first(LOAD_CLIENTS_MAX);
        assert_true(load_order_first(&number) >= last);
        last = load_order_first(&number);
        set(number, UINT64_MAX);
    }
    assert_true(load_order_first(&number) == UINT64_MAX);
}
