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

TEST(every_byte_of_a_function_finds_it)
{
    struct made_table made = made_five();

    assert_int_equal(made_open(&made), PROF_OK);
    assert_int_equal(prof_symbols_error(), PROF_OK);
    assert_int_equal(prof_symbols_count(), 6);
    expect_found(MADE_BASE, "first", MADE_BASE, 0x10, 0);
    expect_found(MADE_BASE + 0x0f, "first", MADE_BASE, 0x10, 0);
    expect_found(MADE_BASE + 0x20, "second", MADE_BASE + 0x20, 0x20, 1);
    expect_found(MADE_BASE + 0x3f, "second", MADE_BASE + 0x20, 0x20, 1);
    expect_found(MADE_BASE + 0x40, "third", MADE_BASE + 0x40, 0xc0, 2);
    expect_found(MADE_BASE + 0xff, "third", MADE_BASE + 0x40, 0xc0, 2);
    expect_found(MADE_BASE + 0x100, "fourth", MADE_BASE + 0x100, 1, 3);
    expect_found(MADE_BASE + 0x200, "last", MADE_BASE + 0x200, 0x80, 5);
    expect_found(MADE_BASE + 0x27f, "last", MADE_BASE + 0x200, 0x80, 5);
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

TEST(a_gap_is_not_blamed_on_its_neighbour)
{
    struct made_table made = made_five();

    assert_int_equal(made_open(&made), PROF_OK);
    expect_nothing(0);
    expect_nothing(MADE_BASE - 1);
    expect_nothing(MADE_BASE + 0x10);
    expect_nothing(MADE_BASE + 0x1f);
    expect_nothing(MADE_BASE + 0x101);
    expect_nothing(MADE_BASE + 0x1ff);
    expect_nothing(MADE_BASE + 0x280);
    expect_nothing(UINTPTR_MAX);
    free(made.head);
}

TEST(an_address_4_gib_further_on_is_not_found)
{
    struct made_table made = made_five();

    assert_int_equal(made_open(&made), PROF_OK);
#if UINTPTR_MAX > UINT32_MAX
    expect_nothing((uintptr_t)MADE_BASE + 0x100000000u);
#endif
    expect_nothing((uintptr_t)MADE_BASE + 0xffffffffu);
    free(made.head);
}

TEST(gaps_of_any_width_belong_to_no_function)
{
    for (uint32_t gap = 0; gap < 600; ++gap) {
        const struct made_function two[] = {{0, 7, "a"}, {7 + gap, 3, "b"}};
        struct made_table made = made_table(MADE_BASE, two, 2);

        assert_int_equal(made_open(&made), PROF_OK);
        expect_found(MADE_BASE + 6, "a", MADE_BASE, 7, 0);
        for (uint32_t at = 7; at < 7 + gap; ++at)
            expect_nothing(MADE_BASE + at);
        expect_found(MADE_BASE + 7 + gap, "b", MADE_BASE + 7 + gap, 3,
                     gap < 255 ? 1 : 2);
        expect_nothing(MADE_BASE + 10 + gap);
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

/* The definition of a lookup: looks at every function in turn. */
static bool linear_find(const struct made_table *made, uint32_t key,
                        uint32_t *index)
{
    for (uint32_t i = 0; i < made->head->count; ++i) {
        if (key >= made->offsets[i] &&
            key + made->gaps[i] < made->offsets[i + 1]) {
            *index = i;
            return true;
        }
    }
    return false;
}

static void expect_as_linear(const struct made_table *made, uint32_t key)
{
    struct prof_symbol found;
    uint32_t index;
    bool there = linear_find(made, key, &index);

    assert_int_equal(prof_symbol_find(MADE_BASE + key, &found), there);
    if (there)
        assert_int_equal(found.index, index);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* (count) functions, about half of them followed by a gap. */
static struct made_table make_random(uint32_t count, uint32_t *seed)
{
    struct made_function *all = calloc(count, sizeof *all);
    struct made_table made;
    uint32_t at = next_random(seed) % 4;

    for (uint32_t i = 0; i < count; ++i) {
        all[i].offset = at;
        all[i].size = 1 + next_random(seed) % 5;
        all[i].name = "f";
        at += all[i].size;
        if (next_random(seed) % 2 != 0)
            at += next_random(seed) % 4;
    }
    made = made_table(MADE_BASE, all, count);
    free(all);
    return made;
}

TEST(small_tables_answer_as_a_linear_search_does)
{
    uint32_t seed = 1;

    for (uint32_t count = 1; count <= 70; ++count) {
        struct made_table made = make_random(count, &seed);

        assert_int_equal(made_open(&made), PROF_OK);
        for (uint32_t key = 0; key <= made.offsets[count - 1] + 8; ++key)
            expect_as_linear(&made, key);
        free(made.head);
    }
}

TEST(a_hundred_thousand_answer_as_a_linear_search_does)
{
    uint32_t seed = 2;
    struct made_table made = make_random(MANY, &seed);

    assert_int_equal(made_open(&made), PROF_OK);
    assert_int_equal(prof_symbols_count(), MANY);
    for (uint32_t i = 0; i < 500; ++i)
        expect_as_linear(&made, next_random(&seed) % made.offsets[MANY - 1]);
    free(made.head);
}

TEST(all_of_a_hundred_thousand_are_found)
{
    uint32_t seed = 3;
    struct made_table made = make_random(MANY, &seed);

    assert_int_equal(made_open(&made), PROF_OK);
    for (uint32_t i = 0; i < MANY; ++i) {
        uint32_t end = made.offsets[i + 1] - made.gaps[i];
        uint32_t size = end - made.offsets[i];

        expect_found(MADE_BASE + made.offsets[i], "f",
                     MADE_BASE + made.offsets[i], size, i);
        expect_found(MADE_BASE + end - 1, "f", MADE_BASE + made.offsets[i],
                     size, i);
        if (i + 1 == MANY || made.gaps[i] > 0)
            expect_nothing(MADE_BASE + end);
    }
    free(made.head);
}
