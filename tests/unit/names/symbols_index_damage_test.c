/* SPDX-License-Identifier: Apache-2.0 */

/* Damage to the index of a symbol table must be noticed: a search would begin
 * or end at the wrong place. The checksum is made right for the damage. */

#include <prof/error.h>
#include <prof/symbols.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "damage.h"

/* The index of the five: parts of 128 bytes, the second cut into two pieces,
   the third into four. */
static void expect_index_refused(size_t field, uint32_t value)
{
    struct made_table made = made_five();

    memcpy((uint8_t *)made.head + field, &value, sizeof value);
    expect_error(&made, PROF_ESYM_INDEX);
}

static void an_index_of_another_shape_is_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    assert_int_equal(made.head->parts_count, 5);
    assert_int_equal(made.head->firsts_count, 1 + 2 + 4 + 1 + 2);
    assert_int_equal(made.head->parts_shift, 7);
    free(made.head);
    expect_index_refused(offsetof(struct prof_symtab, parts_shift), 6);
    expect_index_refused(offsetof(struct prof_symtab, parts_shift), 8);
    expect_index_refused(offsetof(struct prof_symtab, parts_shift), 32);
    expect_index_refused(offsetof(struct prof_symtab, parts_shift), 39);
    expect_index_refused(offsetof(struct prof_symtab, parts_count), 4);
    expect_index_refused(offsetof(struct prof_symtab, parts_count), 0);
    expect_index_refused(offsetof(struct prof_symtab, parts_count), 6);
    expect_index_refused(offsetof(struct prof_symtab, firsts_count), 9);
    expect_index_refused(offsetof(struct prof_symtab, firsts_count), 11);
    expect_index_refused(offsetof(struct prof_symtab, firsts_count), 0);
}

static void a_window_too_narrow_or_too_wide_is_refused(void **state)
{
    struct made_table made = made_five();
    uint32_t window = made.head->window;

    (void)state;
    free(made.head);
    assert_int_equal(window, 3);
    expect_index_refused(offsetof(struct prof_symtab, window), window - 1);
    expect_index_refused(offsetof(struct prof_symtab, window), 0);
    expect_index_refused(offsetof(struct prof_symtab, window), 7);
    expect_index_refused(offsetof(struct prof_symtab, window), 0x80000000u);
}

static void parts_that_do_not_follow_each_other_are_refused(void **state)
{
    (void)state;
    for (uint32_t p = 0; p < 5; ++p) {
        struct made_table made = made_five();

        made.parts[p] += 1u << 5;
        expect_error(&made, PROF_ESYM_INDEX);
        made = made_five();
        made.parts[p] = (made.parts[p] & ~31u) | 8u; /* larger than a part */
        expect_error(&made, PROF_ESYM_INDEX);
        made = made_five();
        made.parts[p] &= ~31u; /* pieces of one byte, which there are not */
        expect_error(&made, PROF_ESYM_INDEX);
    }
}

static void a_search_that_would_begin_too_late_is_refused(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10; ++i) {
        struct made_table made = made_five();

        made.firsts[i] += 1;
        expect_error(&made, PROF_ESYM_INDEX);
        made = made_five();
        made.firsts[i] = 0xffffffffu;
        expect_error(&made, PROF_ESYM_INDEX);
    }
}

static void a_search_that_would_end_too_early_is_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.firsts[9] = 0; /* "last" is entry 5 */
    expect_error(&made, PROF_ESYM_INDEX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_of_another_shape_is_refused),
        cmocka_unit_test(a_window_too_narrow_or_too_wide_is_refused),
        cmocka_unit_test(parts_that_do_not_follow_each_other_are_refused),
        cmocka_unit_test(a_search_that_would_begin_too_late_is_refused),
        cmocka_unit_test(a_search_that_would_end_too_early_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
