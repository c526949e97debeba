/* SPDX-License-Identifier: Apache-2.0 */

/* Tables of a million records: all are found at any time, they stay where they
 * are, and no single one takes long to add. */

#include "../unit.h"

#include "profiler_world.h"

#define RECORDS 1000000u
#define PIECE_MAX 300u /* slots cleared and records entered for a new record */

struct item {
    struct prof_record record;
    uintptr_t own;
};

static uintptr_t key_of(uint32_t number)
{
    return (uintptr_t)number * 40503 + 7;
}

static uint32_t parent_of(uint32_t number)
{
    return number / 3;
}

static struct item *item_at(const struct prof_table *table, uint32_t number)
{
    return PROF_TABLE_AT(table, struct item, number);
}

static uint32_t find(const struct prof_table *table, uint32_t number)
{
    return *prof_table_find_slot(table, parent_of(number), key_of(number));
}

static void add(struct prof_table *table, uint32_t number)
{
    uint32_t parent = parent_of(number), *slot;
    uintptr_t key = key_of(number);

    slot = prof_table_find_slot(table, parent, key);
    assert_int_equal(*slot, 0);
    assert_int_equal(
        prof_table_add(table, sizeof(struct item), slot, parent, key), number);
    assert_int_equal(item_at(table, number)->own, 0);
    item_at(table, number)->own = number;
}

/* What was done on the next slots. */
static uint32_t pieces(const struct prof_table *table)
{
    return table->next_slots == NULL ? 0 : table->cleared + table->entered;
}

TEST(no_record_takes_long_to_add)
{
    struct prof_table table = PROF_TABLE(struct item);
    const struct item *first = NULL;
    uint32_t grown = 0;

    world_refuse_from = -1;
    for (uint32_t number = 1; number <= RECORDS; number++) {
        uint32_t before = pieces(&table), mask = table.mask;

        add(&table, number);
        if (table.mask != mask)
            grown++;
        else if (pieces(&table) > before && before != 0)
            assert_in_range(pieces(&table) - before, 1, PIECE_MAX);
        /* the slots are never short of room, so none is made in a hurry */
        assert_true(number == 1 || table.used <= (table.mask + 1) / 2);
        if (number == 1)
            first = item_at(&table, 1);
        assert_int_equal(find(&table, 1 + number * 7919ull % number),
                         1 + number * 7919ull % number);
    }
    assert_in_range(grown, 10, 16);
    assert_ptr_equal(first, item_at(&table, 1));
    for (uint32_t number = 1; number <= RECORDS; number++) {
        assert_int_equal(find(&table, number), number);
        assert_int_equal(item_at(&table, number)->own, number);
    }
    world_free_table(&table);
}

/* Each allocation is refused a few times. What is there is found, and there is
 * room again once memory is given. */
TEST(refused_memory_is_asked_for_again)
{
    struct prof_table table = PROF_TABLE(struct item);
    uint32_t refused = 0;

    world_allocations = 0;
    for (uint32_t number = 1; number <= RECORDS / 20; number++) {
        world_refuse_from = number % 5 != 0 ? 0 : -1;
        world_refuse_count = INT32_MAX;
        while (!prof_table_reserve(&table)) {
            refused++;
            if (refused % 3 == 0)
                world_refuse_from = -1;
        }
        world_refuse_from = -1;
        add(&table, number);
        assert_int_equal(find(&table, 1 + number / 2), 1 + number / 2);
    }
    assert_in_range(refused, 100, table.refusals);
    for (uint32_t number = 1; number <= RECORDS / 20; number++)
        assert_int_equal(find(&table, number), number);
    world_free_table(&table);
}

/* Slots that were refused until there was no room left are made in a hurry, but
 * not in one go. */
TEST(slots_refused_for_long_are_made_up_for)
{
    struct prof_table table = PROF_TABLE(struct item);
    uint32_t number = 1, tries = 0;

    world_refuse_from = -1;
    for (; number <= 190; number++)
        add(&table, number);
    world_refuse_from = 0;
    world_refuse_count = INT32_MAX;
    for (; prof_table_reserve(&table); number++)
        add(&table, number);
    assert_int_equal(number, 256);
    world_refuse_from = -1;
    while (!prof_table_reserve(&table))
        assert_in_range(++tries, 1, 3);
    for (; number <= 2000; number++)
        add(&table, number);
    world_free_table(&table);
}
