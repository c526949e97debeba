/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the link step says, and what it refuses: images that cannot be used,
 * and second links that do not fit the first.
 */

#include "embed_runner.h"

static const struct elf_symbol pair[] = {FUNC("f", 0, 16), FUNC("g", 16, 16)};

static void the_build_id_is_printed_in_hex(void **state)
{
    struct elf_plan plan = plan_of(pair, 2);

    (void)state;
    plan.build_id_bytes = 4;
    write_elf("a.elf", &plan);
    assert_int_equal(run("--build-id a.elf"), 0);
    assert_string_equal(output, "a0a1a2a3\n");
}

static void the_functions_are_listed(void **state)
{
    struct elf_plan plan = plan_of(pair, 2);
    const char *zeros = sizeof(void *) == 8 ? "00000000" : "";
    char wanted[128];

    (void)state;
    snprintf(wanted, sizeof wanted,
             "%s00100000      16 f\n%s00100010      16 g\n", zeros, zeros);
    write_elf("a.elf", &plan);
    assert_int_equal(run("--list a.elf"), 0);
    assert_string_equal(output, wanted);
}

static void what_is_no_image_is_refused(void **state)
{
    struct elf_plan plan = plan_of(pair, 2);

    (void)state;
    expect_failure("missing.elf out", "cannot be read");
    expect_failure(". out", "not a file");
    write_file("a.elf", "#!/bin/sh\n", 10);
    expect_failure("a.elf out", "not an ELF file");
    write_file("a.elf", "", 0);
    expect_failure("a.elf out", "not an ELF file");
    plan.type = ET_REL;
    write_elf("a.elf", &plan);
    expect_failure("a.elf out", "not a linked image");
}

static void an_image_without_names_is_refused(void **state)
{
    struct elf_plan plan = plan_of(pair, 0);

    (void)state;
    write_elf("a.elf", &plan);
    expect_failure("a.elf out", "no function");
    plan = plan_of(pair, 2);
    plan.stripped = true;
    write_elf("a.elf", &plan);
    expect_failure("a.elf out", "no symbol table");
    expect_failure("--list a.elf", "no symbol table");
}

static void an_image_without_a_fitting_build_id_is_refused(void **state)
{
    struct elf_plan plan = plan_of(pair, 2);

    (void)state;
    plan.build_id_bytes = 0;
    write_elf("a.elf", &plan);
    expect_failure("a.elf out", "no build-id");
    expect_failure("--build-id a.elf", "no build-id");
    plan.build_id_bytes = 36;
    write_elf("a.elf", &plan);
    expect_failure("a.elf out", "a build-id of 36 bytes");
}

static void another_width_than_wanted_is_refused(void **state)
{
    struct elf_plan plan = plan_of(pair, 2);
    bool wide = sizeof(void *) == 8;

    (void)state;
    write_elf("a.elf", &plan);
    expect_failure(wide ? "--width=32 a.elf out" : "--width=64 a.elf out",
                   wide ? "a 64-bit image" : "a 32-bit image");
    assert_int_equal(
        run(wide ? "--width=64 a.elf out" : "--width=32 a.elf out"), 0);
}

static void an_image_cut_at_any_length_is_refused(void **state)
{
    struct elf_plan plan = plan_of(pair, 2);
    struct elf_file *file = elf_make(&plan);

    (void)state;
    for (size_t bytes = 0; bytes < file->used; bytes += 61) {
        write_file("a.elf", file->bytes, bytes);
        expect_failure("a.elf out", "embed: a.elf: ");
    }
    write_file("a.elf", file->bytes, file->used - 1);
    expect_failure("a.elf out", "truncated");
    free(file);
}

static void an_output_that_cannot_be_written_is_named(void **state)
{
    struct elf_plan plan = plan_of(pair, 2);

    (void)state;
    write_elf("a.elf", &plan);
    expect_failure("a.elf missing/out", "missing/out: cannot be written");
    expect_failure("a.elf .", ".: cannot be written");
    expect_failure("a.elf /dev/full", "/dev/full: cannot be written");
}

static void wrong_usage_is_explained(void **state)
{
    static const char *const wrong[] = {
        "",           "a.elf",  "a b c",          "--width=48 a b",
        "--verify a", "--list", "--build-id a b", "--what"};

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); ++i) {
        assert_int_equal(run(wrong[i]), 2);
        assert_non_null(strstr(output, "usage: embed"));
    }
    assert_int_equal(run("--help"), 0);
    assert_memory_equal(output, "usage: embed", 12);
}

/* b.elf is a.elf with its table in it, as the second link makes it. */
static struct elf_plan second_link(void)
{
    struct elf_plan plan = plan_of(pair, 2);

    write_elf("a.elf", &plan);
    assert_int_equal(run("a.elf out"), 0);
    plan.table = read_file("out", &plan.table_bytes);
    write_elf("b.elf", &plan);
    return plan;
}

static void expect_unfit(const struct elf_plan *plan, const char *words)
{
    write_elf("b.elf", plan);
    expect_failure("--verify a.elf b.elf", words);
}

static void a_table_that_fits_is_verified(void **state)
{
    struct elf_plan plan = second_link();

    (void)state;
    assert_int_equal(run("--verify a.elf b.elf"), 0);
    assert_string_equal(output, "");
    free((void *)(uintptr_t)plan.table);
}

static void code_that_moved_is_noticed(void **state)
{
    static const struct elf_symbol moved[] = {FUNC("f", 0, 16),
                                              FUNC("g", 32, 16)};
    static const struct elf_symbol grown[] = {FUNC("f", 0, 16),
                                              FUNC("g", 16, 17)};
    static const struct elf_symbol renamed[] = {FUNC("f", 0, 16),
                                                FUNC("h", 16, 16)};
    static const struct elf_symbol more[] = {
        FUNC("f", 0, 16), FUNC("g", 16, 16), FUNC("h", 32, 16)};
    struct elf_plan plan = second_link();

    (void)state;
    plan.symbols = moved;
    expect_unfit(&plan, "g (0x100020, 16 bytes) stands where a.elf has g "
                        "(0x100010, 16 bytes)");
    plan.symbols = grown;
    expect_unfit(&plan, "code has moved");
    plan.symbols = renamed;
    expect_unfit(&plan, "code has moved");
    plan.symbols = more;
    plan.count = 3;
    expect_unfit(&plan, "3 function symbols, but 2 in a.elf");
    free((void *)(uintptr_t)plan.table);
}

static void another_build_id_is_noticed(void **state)
{
    struct elf_plan plan = second_link();

    (void)state;
    plan.build_id_bytes = 16;
    expect_unfit(&plan, "another build-id than a.elf");
    free((void *)(uintptr_t)plan.table);
}

static void a_section_that_cannot_be_used_is_noticed(void **state)
{
    struct elf_plan plan = second_link();
    size_t bytes = plan.table_bytes;

    (void)state;
    plan.table_bytes = 0;
    expect_unfit(&plan, "no table in section .prof_symtab");
    plan.table_bytes = bytes;
    plan.table_unloaded = true;
    expect_unfit(&plan, "is not loaded");
    plan.table_unloaded = false;
    plan.table_off = 4;
    expect_unfit(&plan, "align it to 8 bytes");
    free((void *)(uintptr_t)plan.table);
}

static void a_table_of_other_bytes_is_noticed(void **state)
{
    struct elf_plan plan = second_link();
    uint8_t *longer = calloc(1, plan.table_bytes + 8);
    size_t bytes = plan.table_bytes;

    (void)state;
    memcpy(longer, plan.table, bytes);
    free((void *)(uintptr_t)plan.table);
    plan.table = longer;
    plan.table_bytes = bytes - 1;
    expect_unfit(&plan, "not the one made from this image");
    plan.table_bytes = bytes + 8;
    write_elf("b.elf", &plan);
    assert_int_equal(run("--verify a.elf b.elf"), 0);
    longer[bytes + 7] = 1;
    expect_unfit(&plan, "more than the table");
    longer[bytes / 2] ^= 1;
    expect_unfit(&plan, "not the one made from this image");
    free(longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_build_id_is_printed_in_hex),
        TEST(the_functions_are_listed),
        TEST(what_is_no_image_is_refused),
        TEST(an_image_without_names_is_refused),
        TEST(an_image_without_a_fitting_build_id_is_refused),
        TEST(another_width_than_wanted_is_refused),
        TEST(an_image_cut_at_any_length_is_refused),
        TEST(an_output_that_cannot_be_written_is_named),
        TEST(wrong_usage_is_explained),
        TEST(a_table_that_fits_is_verified),
        TEST(code_that_moved_is_noticed),
        TEST(another_build_id_is_noticed),
        TEST(a_section_that_cannot_be_used_is_noticed),
        TEST(a_table_of_other_bytes_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
