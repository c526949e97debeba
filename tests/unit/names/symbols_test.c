/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups: which function an address belongs to, and when to none. */

#include "../unit.h"

#include <prof/error.h>
#include <prof/symbols.h>

#include "table_maker.h"

#define MANY 100000u

static void expect_found(uintptr_t address, const char *name, uintptr_t start,
                         size_t size, uint32_t index)
{
    struct prof_symbol found;

    assert_true(prof_symbol_find(address, &found));
    assert_string_equal(made_name_of(&found), name);
    assert_int_equal(found.start, start);
    assert_int_equal(found.size, size);
    assert_int_equal(found.index, index);
}

static void expect_nothing(uintptr_t address)
{
    struct prof_symbol found = {.index = 77};

    assert_false(prof_symbol_find(address, &found));
    assert_int_equal(found.index, 77);
}

TEST(before_the_first_open_there_are_no_names)
{
    assert_int_equal(prof_symbols_error(), PROF_ESYM_NONE);
    assert_int_equal(prof_symbols_count(), 0);
    expect_nothing(0);
    expect_nothing(UINTPTR_MAX);
}

TEST(an_empty_section_is_no_table)
{
    static const uint64_t section;

    assert_int_equal(prof_symbols_open(NULL, 0, NULL, 0), PROF_ESYM_NONE);
    assert_int_equal(prof_symbols_open(&section, 0, NULL, 0), PROF_ESYM_NONE);
    assert_int_equal(prof_symbols_open(NULL, 100, NULL, 0), PROF_ESYM_NONE);
}

/* The definition of a lookup: looks at every function in turn. */
static void expect_as_linear(const struct made_function *all, uint32_t count,
                             uint64_t key)
{
    uint32_t index = 0;

    for (uint32_t i = 0; i < count; ++i, ++index) {
        uint64_t end = (uint64_t)all[i].offset + all[i].size;

        if (key >= all[i].offset && key < end) {
            expect_found(MADE_BASE + (uintptr_t)key, all[i].name,
                         MADE_BASE + all[i].offset, all[i].size, index);
            return;
        }
        if (i + 1 < count && all[i + 1].offset - end >= 255)
            ++index; /* the gap is an entry */
    }
    expect_nothing(MADE_BASE + (uintptr_t)key);
}

TEST(every_byte_of_a_function_finds_it_and_no_gap_does)
{
    struct made_table made = made_five();

    assert_int_equal(made_open(&made), PROF_OK);
    assert_int_equal(prof_symbols_error(), PROF_OK);
    assert_int_equal(prof_symbols_count(), 6);
    for (uint32_t key = 0; key < 0x300; ++key)
        expect_as_linear(made_of_five, 5, key);
    expect_nothing(0);
    expect_nothing(MADE_BASE - 1);
    expect_nothing(UINTPTR_MAX);
    /* 4 GiB further on, too */
#if UINTPTR_MAX > UINT32_MAX
    expect_nothing((uintptr_t)MADE_BASE + 0x100000000u);
#endif
    expect_nothing((uintptr_t)MADE_BASE + 0xffffffffu);
    free(made.head);
}

/* As an image that copies itself to the end of the memory, or the other way. */
TEST(an_image_that_has_moved_finds_its_functions)
{
    static const uintptr_t moves[] = {0x7000000, -(uintptr_t)0x80000};
    struct made_table made = made_five();

    for (size_t i = 0; i < sizeof moves / sizeof *moves; ++i) {
        uintptr_t base = MADE_BASE + moves[i];

        prof_symbols_moved(moves[i]);
        assert_int_equal(made_open(&made), PROF_OK);
        expect_found(base, "first", base, 0x10, 0);
        expect_found(base + 0x27f, "last", base + 0x200, 0x80, 5);
        expect_nothing(base - 1);
        expect_nothing(base + 0x280);
        expect_nothing(MADE_BASE);
    }
    prof_symbols_moved(0);
    free(made.head);
}

TEST(gaps_of_any_width_belong_to_no_function)
{
    for (uint32_t gap = 0; gap < 600; ++gap) {
        const struct made_function two[] = {{0, 7, "a"}, {7 + gap, 3, "b"}};
        struct made_table made = made_table(MADE_BASE, two, 2);

        assert_int_equal(made_open(&made), PROF_OK);
        for (uint32_t key = 0; key < gap + 12; ++key)
            expect_as_linear(two, 2, key);
        free(made.head);
    }
}

TEST(a_table_of_no_functions_is_sound_and_finds_nothing)
{
    struct made_table made = made_table(MADE_BASE, NULL, 0);

    assert_int_equal(made_open(&made), PROF_OK);
    assert_int_equal(prof_symbols_count(), 0);
    expect_nothing(MADE_BASE);
    free(made.head);
}

TEST(code_may_reach_to_the_last_address)
{
    static const struct made_function one = {0, 0x0f, "high"};
    struct made_table made = made_table(UINTPTR_MAX - 0x0f, &one, 1);

    assert_int_equal(made_open(&made), PROF_OK);
    expect_found(UINTPTR_MAX - 1, "high", UINTPTR_MAX - 0x0f, 0x0f, 0);
    expect_nothing(UINTPTR_MAX);
    expect_nothing(0);
    free(made.head);
}

TEST(a_table_that_is_refused_ends_the_one_before)
{
    struct made_table good = made_five(), bad = made_five();

    assert_int_equal(made_open(&good), PROF_OK);
    bad.head->crc ^= 1;
    assert_int_equal(made_open(&bad), PROF_ESYM_CRC);
    assert_int_equal(prof_symbols_count(), 0);
    expect_nothing(MADE_BASE);
    assert_int_equal(made_open(&good), PROF_OK);
    expect_found(MADE_BASE, "first", MADE_BASE, 0x10, 0);
    free(good.head);
    free(bad.head);
}

/* (count) functions, about half of them followed by a gap. */
static struct made_function *make_random(uint32_t count)
{
    struct made_function *all = calloc(count, sizeof *all);
    uint32_t at = unit_below(4);

    for (uint32_t i = 0; i < count; ++i) {
        all[i] = (struct made_function){at, 1 + unit_below(5), "f"};
        at += all[i].size + unit_below(2) * unit_below(4);
    }
    return all;
}

TEST(small_tables_answer_as_a_linear_search_does)
{
    for (uint32_t count = 1; count <= 70; ++count) {
        struct made_function *all = make_random(count);
        struct made_table made = made_table(MADE_BASE, all, count);

        assert_int_equal(made_open(&made), PROF_OK);
        for (uint32_t key = 0; key <= all[count - 1].offset + 8; ++key)
            expect_as_linear(all, count, key);
        free(made.head);
        free(all);
    }
}

TEST(all_of_a_hundred_thousand_are_found)
{
    struct made_function *all = make_random(MANY);
    struct made_table made = made_table(MADE_BASE, all, MANY);

    assert_int_equal(made_open(&made), PROF_OK);
    assert_int_equal(prof_symbols_count(), MANY);
    for (uint32_t i = 0; i < MANY; ++i) {
        uintptr_t start = MADE_BASE + all[i].offset, end = start + all[i].size;

        expect_found(start, "f", start, all[i].size, i);
        expect_found(end - 1, "f", start, all[i].size, i);
        if (i + 1 == MANY || MADE_BASE + all[i + 1].offset > end)
            expect_nothing(end);
    }
    for (uint32_t i = 0; i < 500; ++i)
        expect_as_linear(all, MANY, unit_below(all[MANY - 1].offset));
    free(made.head);
    free(all);
}
