/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a symbol table: complete, truncated to the buffer, or missing. */

#include "../unit.h"

#include <prof/error.h>
#include <prof/symbols.h>

#include "table_maker.h"

#define MANY 100u

/* Names that share beginnings of all lengths, and words, with each other. */
static struct made_function many[MANY];
static char many_names[MANY][400];

static void make_many(void)
{
    for (uint32_t i = 0; i < MANY; ++i) {
        size_t length = i * 37 % 331;

        memset(many_names[i], 'a', length);
        snprintf(many_names[i] + length, 60, "_ZN%u\xc3\xa9second%uthfir",
                 (unsigned)(i % 3), (unsigned)i);
        if (i % 7 == 3)
            strcpy(many_names[i], many_names[i - 1]);
        many[i] = (struct made_function){i * 300, 1 + i * 3, many_names[i]};
    }
}

/* The name of the function at (offset) in (size) bytes of memory. */
static void expect_name(uint32_t offset, const char *name, size_t size)
{
    size_t length = strlen(name);
    size_t kept = length < size ? length : size - 1;
    char *out = malloc(size);
    struct prof_symbol found;

    memset(out, '#', size);
    assert_true(prof_symbol_find(MADE_BASE + offset, &found));
    assert_int_equal(prof_symbol_name(&found, out, size), length);
    assert_memory_equal(out, name, kept);
    assert_int_equal(out[kept], '\0');
    free(out);
}

TEST(names_come_back_in_any_room_raw_and_packed)
{
    make_many();
    for (unsigned packed = 0; packed < 2; ++packed) {
        struct made_table made = made_any(MADE_BASE, many, MANY, packed != 0);

        assert_int_equal(made_open(&made), PROF_OK);
        for (uint32_t i = 0; i < MANY; ++i) {
            for (size_t size = 1; size < 460; size += 1 + size / 7)
                expect_name(many[i].offset, many[i].name, size);
            expect_name(many[i].offset, many[i].name, strlen(many[i].name) + 1);
        }
        free(made.head);
    }
}

TEST(no_room_still_gives_the_length)
{
    struct made_table made = made_five_packed();
    struct prof_symbol found;

    assert_int_equal(made_open(&made), PROF_OK);
    assert_true(prof_symbol_find(MADE_BASE + 0x20, &found));
    assert_int_equal(prof_symbol_name(&found, NULL, 0), strlen("second"));
    free(made.head);
}

TEST(the_longest_name_comes_back)
{
    char *name = calloc(1, PROF_SYMTAB_NAME_MAX + 1);
    const struct made_function two[] = {{0, 1, name}, {1, 1, "aaab"}};

    memset(name, 'a', PROF_SYMTAB_NAME_MAX);
    for (unsigned packed = 0; packed < 2; ++packed) {
        struct made_table made = made_any(MADE_BASE, two, 2, packed != 0);

        assert_int_equal(made_open(&made), PROF_OK);
        expect_name(0, name, PROF_SYMTAB_NAME_MAX + 1);
        expect_name(0, name, 100);
        expect_name(1, "aaab", 5);
        expect_name(1, "aaab", 3);
        free(made.head);
    }
    free(name);
}

TEST(what_is_not_in_the_table_has_no_name)
{
    struct made_table made = made_five();
    struct prof_symbol wrong = {.index = 6}, found;
    char name[8] = "before";

    assert_int_equal(made_open(&made), PROF_OK);
    assert_true(prof_symbol_find(MADE_BASE + 0x200, &found));
    assert_int_equal(prof_symbol_name(&wrong, name, sizeof name), 0);
    assert_string_equal(name, "");
    wrong.index = UINT32_MAX;
    assert_int_equal(prof_symbol_name(&wrong, name, sizeof name), 0);
    strcpy(name, "before");
    assert_int_equal(prof_symbols_open(NULL, 0, NULL, 0), PROF_ESYM_NONE);
    assert_int_equal(prof_symbol_name(&found, name, sizeof name), 0);
    assert_string_equal(name, "");
    free(made.head);
}
