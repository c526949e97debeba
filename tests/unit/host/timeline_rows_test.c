/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Rows of the timeline: on random families, against the same rule written down
 * simply, and by what must be true of any layout.
 */

#include "../unit.h"

#include "timeline/rows.h"

#define ITEMS 400
#define FAMILIES 300

/* Random families: many children of few, chains, and what takes no time. */
static void make_items(struct layout_item *items, size_t count)
{
    uint32_t longest = 1 + unit_below(2000), step = 1 + unit_below(40);
    uint64_t time = 0;

    for (uint32_t i = 0; i < count; ++i) {
        struct layout_item *item = &items[i];

        time += unit_below(step);
        *item = (struct layout_item){
            .begin = time,
            .end = time + (unit_below(8) == 0 ? 0 : unit_below(longest)),
            .parent =
                i == 0 || unit_below(4) == 0 ? LAYOUT_NONE : unit_below(i),
        };
        item->merged =
            item->parent != LAYOUT_NONE && items[item->parent].end == time;
    }
}

static uint64_t end_of(const struct layout_item *item)
{
    return item->end > item->begin ? item->end : item->begin + 1;
}

static bool overlap(const struct layout_item *a, const struct layout_item *b)
{
    return a->begin < end_of(b) && b->begin < end_of(a);
}

static bool is_free(const struct layout_item *items, const uint32_t *rows,
                    size_t i, uint32_t row)
{
    for (size_t k = 0; k < i; ++k)
        if (rows[k] == row && overlap(&items[k], &items[i]))
            return false;
    return true;
}

/* The rule of rows.h, word by word. */
static uint32_t simple_row(const struct layout_item *items,
                           const uint32_t *rows, size_t i)
{
    const struct layout_item *item = &items[i];
    uint32_t row = 0;

    if (item->parent != LAYOUT_NONE) {
        const struct layout_item *parent = &items[item->parent];
        uint32_t above = rows[item->parent];

        if (!item->merged && parent->end > item->begin)
            row = above + 1;
        else if (is_free(items, rows, i, above))
            return above;
    }
    while (!is_free(items, rows, i, row))
        ++row;
    return row;
}

TEST(rows_are_those_of_the_rule)
{
    static struct layout_item items[ITEMS];
    static uint32_t rows[ITEMS], again[ITEMS];

    for (unit_seed = 1; unit_seed < FAMILIES; ++unit_seed) {
        uint64_t seed = unit_seed;
        uint32_t height, highest = 0;

        make_items(items, ITEMS);
        height = layout_rows(items, ITEMS, rows);
        assert_int_equal(layout_rows(items, ITEMS, again), height);
        assert_memory_equal(rows, again, sizeof rows);
        for (size_t i = 0; i < ITEMS; ++i) {
            if (rows[i] != simple_row(items, rows, i))
                fail_msg("family %u: item %zu is on row %u", (unsigned)seed, i,
                         rows[i]);
            if (rows[i] > highest)
                highest = rows[i];
        }
        assert_int_equal(height, highest + 1);
        unit_seed = seed;
    }
}

TEST(children_that_overlap_are_below)
{
    static struct layout_item items[ITEMS];
    static uint32_t rows[ITEMS];

    unit_seed = 77;
    make_items(items, ITEMS);
    layout_rows(items, ITEMS, rows);
    for (size_t i = 0; i < ITEMS; ++i) {
        uint32_t parent = items[i].parent;

        if (parent != LAYOUT_NONE && !items[i].merged &&
            items[parent].end > items[i].begin)
            assert_true(rows[i] > rows[parent]);
        assert_true(is_free(items, rows, i, rows[i]));
    }
}

/* A chain of continuations is one line, however long. */
TEST(a_chain_is_one_row)
{
    static struct layout_item items[ITEMS];
    static uint32_t rows[ITEMS];

    for (uint32_t i = 0; i < ITEMS; ++i)
        items[i] = (struct layout_item){
            .begin = i * 10,
            .end = i * 10 + 10,
            .parent = i == 0 ? LAYOUT_NONE : i - 1,
        };
    assert_int_equal(layout_rows(items, ITEMS, rows), 1);
}

TEST(nothing_has_no_rows)
{
    assert_int_equal(layout_rows(NULL, 0, NULL), 0);
}

/* More rows than there was room for at first. */
TEST(all_at_once_take_a_row_each)
{
    static struct layout_item items[ITEMS];
    static uint32_t rows[ITEMS];

    for (uint32_t i = 0; i < ITEMS; ++i)
        items[i] = (struct layout_item){
            .begin = i, .end = 2 * ITEMS, .parent = LAYOUT_NONE};
    assert_int_equal(layout_rows(items, ITEMS, rows), ITEMS);
    for (uint32_t i = 0; i < ITEMS; ++i)
        assert_int_equal(rows[i], i);
}
