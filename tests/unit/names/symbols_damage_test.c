/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which damage to a symbol table must be noticed, and what it must be called.
 * Where the checksum is not what is tested, it is made right for the damage.
 */

#include <prof/error.h>
#include <prof/symbols.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "damage.h"

static void expect_cut_refused(struct made_table made)
{
    uint32_t total = made.head->total_bytes;

    for (uint32_t bytes = 1; bytes < total; ++bytes) {
        void *cut = malloc(bytes);

        memcpy(cut, made.head, bytes);
        assert_int_equal(prof_symbols_open(cut, bytes, NULL, 0),
                         PROF_ESYM_SHORT);
        free(cut);
    }
    free(made.head);
}

static void a_table_cut_at_any_length_is_refused(void **state)
{
    (void)state;
    expect_cut_refused(made_five());
    expect_cut_refused(made_five_packed());
}

static void a_section_may_be_longer_than_its_table(void **state)
{
    struct made_table made = made_five();
    uint32_t total = made.head->total_bytes;
    uint8_t *section = calloc(1, total + 64);

    (void)state;
    memcpy(section, made.head, total);
    assert_int_equal(prof_symbols_open(section, total + 64, NULL, 0), PROF_OK);
    free(section);
    free(made.head);
}

static void expect_all_bits_matter(struct made_table made)
{
    uint8_t *bytes = (uint8_t *)made.head;
    uint32_t total = made.head->total_bytes;

    for (uint32_t bit = 0; bit < 8 * total; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(prof_symbols_open(bytes, total, NULL, 0), PROF_OK);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(made.head);
}

static void any_single_flipped_bit_is_noticed(void **state)
{
    (void)state;
    expect_all_bits_matter(made_five());
    expect_all_bits_matter(made_five_packed());
}

static void a_wrong_checksum_is_named(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.names[2] ^= 1;
    assert_int_equal(made_open(&made), PROF_ESYM_CRC);
    free(made.head);
}

static void another_magic_or_version_is_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.head->magic ^= 1;
    expect_error(&made, PROF_ESYM_MAGIC);
    made = made_five();
    made.head->version += 1;
    expect_error(&made, PROF_ESYM_MAGIC);
}

static void another_width_is_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.head->pointer_bits = 96 - made.head->pointer_bits;
    expect_error(&made, PROF_ESYM_WIDTH);
}

static void another_build_is_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.head->build_id[3] ^= 1;
    expect_error(&made, PROF_ESYM_BUILD);
    made = made_five();
    made.head->build_id_bytes -= 1;
    expect_error(&made, PROF_ESYM_BUILD);
    made = made_five();
    made.head->build_id_bytes = 0;
    expect_error(&made, PROF_ESYM_BUILD);
    made = made_five();
    made.head->build_id_bytes = PROF_BUILD_ID_MAX + 1;
    expect_error(&made, PROF_ESYM_LAYOUT);
}

static void a_build_id_of_no_bytes_skips_that_test(void **state)
{
    struct made_table made = made_five();

    (void)state;
    assert_int_equal(
        prof_symbols_open(made.head, made.head->total_bytes, NULL, 0), PROF_OK);
    free(made.head);
}

static void a_table_off_its_alignment_is_refused(void **state)
{
    struct made_table made = made_five();
    uint32_t total = made.head->total_bytes;
    uint8_t *memory = malloc(total + 4);

    (void)state;
    memcpy(memory + 4, made.head, total);
    assert_int_equal(prof_symbols_open(memory + 4, total, NULL, 0),
                     PROF_ESYM_LAYOUT);
    free(memory);
    free(made.head);
}

static void a_total_below_the_header_is_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.head->total_bytes = sizeof *made.head - 1;
    assert_int_equal(prof_symbols_open(made.head, 1000, NULL, 0),
                     PROF_ESYM_LAYOUT);
    free(made.head);
}

static void expect_array_refused(size_t field, uint32_t value)
{
    struct made_table made = made_five_packed();

    memcpy((uint8_t *)made.head + field, &value, sizeof value);
    expect_error(&made, PROF_ESYM_LAYOUT);
}

static void an_array_outside_the_table_is_refused(void **state)
{
    static const size_t fields[] = {
        offsetof(struct prof_symtab, offsets_at),
        offsetof(struct prof_symtab, gaps_at),
        offsetof(struct prof_symtab, parts_at),
        offsetof(struct prof_symtab, firsts_at),
        offsetof(struct prof_symtab, marks_at),
        offsetof(struct prof_symtab, tokens_at),
        offsetof(struct prof_symtab, names_at),
    };
    struct made_table made = made_five_packed();
    uint32_t total = made.head->total_bytes;

    (void)state;
    free(made.head);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
        expect_array_refused(fields[i], 0);
        expect_array_refused(fields[i], sizeof(struct prof_symtab) - 4);
        expect_array_refused(fields[i], sizeof(struct prof_symtab) + 2);
        expect_array_refused(fields[i], total & ~3u);
        expect_array_refused(fields[i], (total | 3u) + 1);
        expect_array_refused(fields[i], 0xfffffffcu);
    }
}

static void a_count_that_wraps_around_is_refused(void **state)
{
    static const size_t fields[] = {
        offsetof(struct prof_symtab, count),
        offsetof(struct prof_symtab, parts_count),
        offsetof(struct prof_symtab, firsts_count),
    };

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
        expect_array_refused(fields[i], 0x40000000u);
        expect_array_refused(fields[i], 0x40000005u);
        expect_array_refused(fields[i], 0x80000001u);
        expect_array_refused(fields[i], 0xffffffffu);
        expect_array_refused(fields[i], 1000);
    }
}

static void names_or_tokens_beyond_the_table_are_refused(void **state)
{
    static const size_t fields[] = {
        offsetof(struct prof_symtab, names_bytes),
        offsetof(struct prof_symtab, tokens_bytes),
    };
    struct made_table made = made_five_packed();
    uint32_t total = made.head->total_bytes;

    (void)state;
    free(made.head);
    for (size_t i = 0; i < 2; ++i) {
        expect_array_refused(fields[i], total);
        expect_array_refused(fields[i], 0xffffffffu);
    }
}

static void starts_that_do_not_rise_are_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.offsets[1] = 0x00;
    expect_error(&made, PROF_ESYM_ORDER);
    made = made_five();
    made.offsets[2] = 0x300;
    expect_error(&made, PROF_ESYM_ORDER);
    made = made_five();
    made.offsets[5] = 0xff;
    expect_error(&made, PROF_ESYM_ORDER);
    made = made_five();
    made.offsets[6] = 0x200;
    expect_error(&made, PROF_ESYM_ORDER);
}

static void a_gap_as_large_as_its_function_is_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.gaps[1] = 0x20;
    expect_error(&made, PROF_ESYM_ORDER);
    made = made_five();
    made.gaps[3] = 1;
    expect_error(&made, PROF_ESYM_ORDER);
    made = made_five();
    made.gaps[5] = 0x80;
    expect_error(&made, PROF_ESYM_ORDER);
}

static void functions_beyond_the_last_address_are_refused(void **state)
{
    struct made_table made = made_five();

    (void)state;
    made.head->base = UINTPTR_MAX - 0x27f;
    expect_error(&made, PROF_ESYM_ORDER);
    made = made_five();
    made.head->base = UINT64_MAX;
    expect_error(&made, PROF_ESYM_ORDER);
#if UINTPTR_MAX == UINT32_MAX
    made = made_five();
    made.head->base = 0x100000000u;
    expect_error(&made, PROF_ESYM_ORDER);
#endif
}

static void code_beyond_the_last_byte_is_refused(void **state)
{
    static const struct made_function one = {0, 0x10, "high"};
    struct made_table made = made_table(UINTPTR_MAX - 0x0f, &one, 1);

    (void)state;
    expect_error(&made, PROF_ESYM_ORDER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_cut_at_any_length_is_refused),
        cmocka_unit_test(a_section_may_be_longer_than_its_table),
        cmocka_unit_test(any_single_flipped_bit_is_noticed),
        cmocka_unit_test(a_wrong_checksum_is_named),
        cmocka_unit_test(another_magic_or_version_is_refused),
        cmocka_unit_test(another_width_is_refused),
        cmocka_unit_test(another_build_is_refused),
        cmocka_unit_test(a_build_id_of_no_bytes_skips_that_test),
        cmocka_unit_test(a_table_off_its_alignment_is_refused),
        cmocka_unit_test(a_total_below_the_header_is_refused),
        cmocka_unit_test(an_array_outside_the_table_is_refused),
        cmocka_unit_test(a_count_that_wraps_around_is_refused),
        cmocka_unit_test(names_or_tokens_beyond_the_table_are_refused),
        cmocka_unit_test(starts_that_do_not_rise_are_refused),
        cmocka_unit_test(a_gap_as_large_as_its_function_is_refused),
        cmocka_unit_test(functions_beyond_the_last_address_are_refused),
        cmocka_unit_test(code_beyond_the_last_byte_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
