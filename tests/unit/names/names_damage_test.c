/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which damage to the names in a symbol table must be noticed. Its checksum is
 * made right for the damage each time, as a tool that errs would do it.
 */

#include <prof/error.h>
#include <prof/symbols.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "table_maker.h"

/* Seals and opens (made), expects (error), and that no names are left then. */
static void expect_error(struct made_table *made, int error)
{
    struct prof_symbol found;

    made_seal(made->head);
    assert_int_equal(made_open(made), error);
    assert_int_equal(prof_symbols_error(), error);
    assert_int_equal(prof_symbols_count(), 0);
    assert_false(prof_symbol_find(MADE_BASE, &found));
    free(made->head);
}

static void a_function_without_name_is_refused(void **state)
{
    static const struct made_function one = {0, 0x10, ""};
    struct made_table made = made_table(MADE_BASE, &one, 1);

    (void)state;
    expect_error(&made, PROF_ESYM_NAME);
    made = made_five();
    made.gaps[4] = 0;
    expect_error(&made, PROF_ESYM_NAME);
}

static void a_gap_with_a_name_is_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.gaps[2] = PROF_SYMTAB_HOLE;
    expect_error(&made, PROF_ESYM_NAME);
}

static void a_name_with_a_nul_in_it_is_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.names[3] = '\0';
    expect_error(&made, PROF_ESYM_NAME);
    made = made_five_packed();
    made.names[3] = '\0';
    expect_error(&made, PROF_ESYM_NAME);
}

static void names_that_end_too_early_or_too_late_are_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.head->names_bytes -= 1;
    expect_error(&made, PROF_ESYM_NAME);
    made = made_five();
    made.head->names_bytes = 0;
    expect_error(&made, PROF_ESYM_NAME);
    made = made_five();
    made.names[1] += 1;
    expect_error(&made, PROF_ESYM_NAME);
    made = made_five();
    made.names[1] -= 1;
    expect_error(&made, PROF_ESYM_NAME);
}

static void a_length_of_two_bytes_cut_in_the_middle_is_refused(void **state)
{
    static const struct made_function one = {0, 0x10, "x"};
    struct made_table made = made_table(MADE_BASE, &one, 1);

    (void)state;
    made.names[1] = 0x80;
    made.head->names_bytes = 2;
    expect_error(&made, PROF_ESYM_NAME);
}

static void a_prefix_of_no_name_is_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.names[0] = 1; /* there is no previous name */
    expect_error(&made, PROF_ESYM_NAME);
    made = made_five();
    made.names[7] = 6; /* "first" has five bytes */
    expect_error(&made, PROF_ESYM_NAME);
    made = made_five();
    made.names[7] = 5;
    made_seal(made.head);
    assert_int_equal(made_open(&made), PROF_OK);
    free(made.head);
}

static void a_mark_that_lies_elsewhere_is_refused(void **state)
{
    struct made_function all[17];
    struct made_table made;

    (void)state;
    for (uint32_t i = 0; i < 17; ++i)
        all[i] = (struct made_function){i, 1, "f"};
    for (uint32_t block = 0; block < 2; ++block) {
        made = made_table(MADE_BASE, all, 17);
        assert_int_equal(made_open(&made), PROF_OK);
        made.marks[block] += 1;
        expect_error(&made, PROF_ESYM_NAME);
        made = made_table(MADE_BASE, all, 17);
        made.marks[block] = 0xffffffffu;
        expect_error(&made, PROF_ESYM_NAME);
    }
}

static void a_name_that_expands_too_far_is_refused(void **state)
{
    char *name = calloc(1, PROF_SYMTAB_NAME_MAX + 2);
    struct made_function one = {0, 1, name};
    struct made_table made;

    (void)state;
    memset(name, 'x', PROF_SYMTAB_NAME_MAX);
    made = made_table(MADE_BASE, &one, 1);
    assert_int_equal(made_open(&made), PROF_OK);
    free(made.head);
    /* a code of six bytes at its end: "second" */
    made = made_any(MADE_BASE, &one, 1, true);
    assert_int_equal(made_open(&made), PROF_OK);
    made.names[made.head->names_bytes - 1] = 0x82;
    expect_error(&made, PROF_ESYM_NAME);
    free(name);
}

static void a_beginning_makes_no_name_too_long(void **state)
{
    char *name = calloc(1, PROF_SYMTAB_NAME_MAX + 1);
    struct made_function two[] = {{0, 1, "xx"}, {1, 1, name}};
    struct made_table made;

    (void)state;
    memset(name, 'x', PROF_SYMTAB_NAME_MAX);
    made = made_any(MADE_BASE, two, 2, false);
    assert_int_equal(made_open(&made), PROF_OK);
    made.names[4] = 1; /* one byte of "xx", and then all of its own */
    expect_error(&made, PROF_ESYM_NAME);
    free(name);
}

static void texts_that_do_not_follow_each_other_are_refused(void **state)
{
    struct made_table made = made_five_packed();

    (void)state;
    made.begins[0] = 1;
    expect_error(&made, PROF_ESYM_NAME);
    made = made_five_packed();
    made.begins['f'] += 2;
    expect_error(&made, PROF_ESYM_NAME);
    made = made_five_packed();
    made.begins[0x82] = 0xffff;
    expect_error(&made, PROF_ESYM_NAME);
    made = made_five_packed();
    made.begins[256] += 1;
    expect_error(&made, PROF_ESYM_NAME);
    made = made_five_packed();
    made.begins[256] -= 1;
    expect_error(&made, PROF_ESYM_NAME);
}

static void tokens_of_too_few_bytes_are_refused(void **state)
{
    (void)state;
    for (uint32_t bytes = 1; bytes <= 257 * 2; ++bytes) {
        struct made_table made = made_five_packed();

        made.head->tokens_bytes = bytes;
        expect_error(&made, PROF_ESYM_NAME);
    }
}

static void a_text_with_a_nul_in_it_is_refused(void **state)
{
    struct made_table made = made_five_packed();

    (void)state;
    made.texts[made.begins[0x82] + 1] = '\0';
    expect_error(&made, PROF_ESYM_NAME);
}

static void a_code_without_meaning_is_refused(void **state)
{
    struct made_table made = made_five_packed();

    (void)state;
    made.names[2] = 0xfe;
    expect_error(&made, PROF_ESYM_NAME);
}

/* What is accepted of a table with one damaged byte and a checksum to fit
   must still be safe to read: each name, into memory of just its length. */
static void read_all(const struct made_table *made)
{
    for (uintptr_t at = MADE_BASE; at < MADE_BASE + 0x280; ++at) {
        struct prof_symbol found;

        if (prof_symbol_find(at, &found)) {
            size_t bytes = prof_symbol_name(&found, NULL, 0);
            char *name = malloc(bytes + 1);

            assert_int_equal(prof_symbol_name(&found, name, bytes + 1), bytes);
            assert_int_equal(strlen(name), bytes);
            assert_true(bytes > 0 && bytes <= PROF_SYMTAB_NAME_MAX);
            free(name);
        }
    }
    (void)made;
}

static void any_damaged_byte_is_refused_or_harmless(void **state)
{
    struct made_table made = made_five_packed();
    uint8_t *bytes = (uint8_t *)made.head;
    uint32_t total = made.head->total_bytes;

    (void)state;
    for (uint32_t at = 0; at < total; ++at) {
        uint8_t good = bytes[at];

        for (unsigned value = 0; value < 256; value += at < 600 ? 1 : 17) {
            bytes[at] = (uint8_t)value;
            if (made.head->total_bytes <= total)
                made_seal(made.head);
            if (prof_symbols_open(bytes, total, NULL, 0) == PROF_OK)
                read_all(&made);
        }
        bytes[at] = good;
    }
    free(made.head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_without_name_is_refused),
        cmocka_unit_test(a_gap_with_a_name_is_refused),
        cmocka_unit_test(a_name_with_a_nul_in_it_is_refused),
        cmocka_unit_test(names_that_end_too_early_or_too_late_are_refused),
        cmocka_unit_test(a_length_of_two_bytes_cut_in_the_middle_is_refused),
        cmocka_unit_test(a_prefix_of_no_name_is_refused),
        cmocka_unit_test(a_mark_that_lies_elsewhere_is_refused),
        cmocka_unit_test(a_name_that_expands_too_far_is_refused),
        cmocka_unit_test(a_beginning_makes_no_name_too_long),
        cmocka_unit_test(texts_that_do_not_follow_each_other_are_refused),
        cmocka_unit_test(tokens_of_too_few_bytes_are_refused),
        cmocka_unit_test(a_text_with_a_nul_in_it_is_refused),
        cmocka_unit_test(a_code_without_meaning_is_refused),
        cmocka_unit_test(any_damaged_byte_is_refused_or_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
