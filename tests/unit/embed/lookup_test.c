/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index that the link step makes over a table: every search finds what it
 * must, among few entries, and the index stays small, however the code lies.
 */

#include "../unit.h"

#include "embed/embed.h"

#include <endian.h>

#define MANY 20000u

/* Starts that rise, and an end; all little-endian. */
static uint32_t offsets[MANY + 2];

/* (count) entries from (at) on, (least) to (least + more) bytes each. */
static uint32_t fill(uint32_t from, uint32_t count, uint32_t at, uint32_t least,
                     uint32_t more)
{
    for (uint32_t i = from; i < from + count; ++i) {
        offsets[i] = htole32(at);
        at += least + unit_below(more + 1);
    }
    offsets[from + count] = htole32(at);
    return at;
}

static void expect_in_window(const struct lookup *index, uint32_t count,
                             uint32_t key, uint32_t answer)
{
    uint32_t part, piece, first;

    assert_true(key >> index->shift < index->parts_count);
    part = le32toh(index->parts[key >> index->shift]);
    piece = (part >> 5) + ((key & ((1u << index->shift) - 1)) >> (part & 31));
    assert_true(piece < index->firsts_count);
    first = le32toh(index->firsts[piece]);
    if (first > count - index->window)
        first = count - index->window;
    assert_true(first <= answer && answer < first + index->window);
}

/* Looks for each entry's first and last byte; returns the window. */
static uint32_t expect_sound(uint32_t count)
{
    struct lookup index = lookup_make(offsets, count);
    uint32_t window = index.window;

    assert_true(index.parts_count <= count / 16 + 2);
    assert_true(index.firsts_count <= index.parts_count + count / 2);
    assert_true(window >= 1 && window <= count);
    for (uint32_t i = 0; i < count; ++i) {
        expect_in_window(&index, count, le32toh(offsets[i]), i);
        expect_in_window(&index, count, le32toh(offsets[i + 1]) - 1, i);
    }
    lookup_free(&index);
    return window;
}

TEST(one_entry_or_a_few_need_no_parts)
{
    for (uint32_t count = 1; count < 16; ++count) {
        fill(0, count, 0, 1, 300);
        assert_true(expect_sound(count) <= count);
        fill(0, count, 0, 0x0f000000, 0xffffff);
        assert_true(expect_sound(count) <= count);
    }
}

TEST(two_entries_may_lie_4_gib_apart)
{
    fill(0, 1, 0, 0xfffffff0u, 0);
    fill(1, 1, 0xfffffff0u, 0x0f, 0);
    assert_int_equal(expect_sound(2), 2);
}

TEST(dense_code_is_searched_in_few_steps)
{
    fill(0, MANY, 0, 16, 300);
    assert_true(expect_sound(MANY) <= 17);
    fill(0, MANY, 0, 1, 0);
    assert_true(expect_sound(MANY) <= 17);
    fill(0, MANY, 0, 200000, 10000);
    assert_true(expect_sound(MANY) <= 17);
}

TEST(a_function_far_away_costs_only_itself)
{
    uint32_t at = fill(0, MANY - 1, 0, 16, 300);

    offsets[MANY - 1] = htole32(at);
    fill(MANY - 1, 1, 0xf0000000u, 16, 0);
    assert_true(expect_sound(MANY) <= 17);
}

TEST(crowds_far_apart_cost_themselves)
{
    for (uint32_t crowd = 0; crowd < 4; ++crowd)
        fill(crowd * (MANY / 4), MANY / 4, crowd * 0x10000000u, 8,
             40u << 2 * crowd);
    assert_true(expect_sound(MANY) <= 17);
}

/* Functions of one byte, then each twice as far from the next as the one
   before: the crowd has one part, which there are too few pieces for. */
TEST(a_crowd_too_dense_for_its_part_is_found)
{
    uint32_t at = fill(0, MANY / 2, 0, 1, 0), i = MANY / 2;

    for (uint32_t step = 2; step < 0x40000000u; step *= 2)
        at = fill(i++, 1, at, step, 0);
    assert_true(expect_sound(i) <= 512);
}
