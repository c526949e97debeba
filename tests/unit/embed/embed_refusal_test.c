/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the step after the link says, and what it refuses: images that cannot be
 * used.
 */

#include "../unit.h"

#include "embed_runner.h"

static const struct elf_symbol pair[] = {FUNC("f", 0, 16), FUNC("g", 16, 16)};

FIXTURE(make_folder, remove_folder);

TEST(the_functions_are_listed)
{
    struct elf_plan plan = plan_of(pair, 2);
    const char *zeros = sizeof(void *) == 8 ? "00000000" : "";
    char wanted[128];

    snprintf(wanted, sizeof wanted,
             "%s00100000      16 f\n%s00100010      16 g\n", zeros, zeros);
    write_elf("a.elf", &plan);
    assert_int_equal(run("--list a.elf"), 0);
    assert_string_equal(output, wanted);
}

TEST(what_is_no_image_is_refused)
{
    struct elf_plan plan = plan_of(pair, 2);

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

TEST(an_image_without_names_is_refused)
{
    struct elf_plan plan = plan_of(pair, 0);

    write_elf("a.elf", &plan);
    expect_failure("a.elf out", "no function");
    plan = plan_of(pair, 2);
    plan.stripped = true;
    write_elf("a.elf", &plan);
    expect_failure("a.elf out", "no symbol table");
    expect_failure("--list a.elf", "no symbol table");
}

TEST(an_image_without_a_fitting_build_id_is_refused)
{
    struct elf_plan plan = plan_of(pair, 2);

    plan.build_id_bytes = 0;
    write_elf("a.elf", &plan);
    expect_failure("a.elf out", "no build-id");
    plan.build_id_bytes = 36;
    write_elf("a.elf", &plan);
    expect_failure("a.elf out", "a build-id of 36 bytes");
}

TEST(another_width_than_wanted_is_refused)
{
    struct elf_plan plan = plan_of(pair, 2);
    bool wide = sizeof(void *) == 8;

    write_elf("a.elf", &plan);
    expect_failure(wide ? "--width=32 a.elf out" : "--width=64 a.elf out",
                   wide ? "a 64-bit image" : "a 32-bit image");
    assert_int_equal(
        run(wide ? "--width=64 a.elf out" : "--width=32 a.elf out"), 0);
}

TEST(an_image_cut_at_any_length_is_refused)
{
    struct elf_plan plan = plan_of(pair, 2);
    struct elf_file *file = elf_make(&plan);

    for (size_t bytes = 0; bytes < file->used; bytes += 61) {
        write_file("a.elf", file->bytes, bytes);
        expect_failure("a.elf out", "embed: a.elf: ");
    }
    write_file("a.elf", file->bytes, file->used - 1);
    expect_failure("a.elf out", "truncated");
    free(file);
}

TEST(an_output_that_cannot_be_written_is_named)
{
    struct elf_plan plan = plan_of(pair, 2);

    write_elf("a.elf", &plan);
    expect_failure("a.elf missing/out", "missing/out: cannot be written");
    expect_failure("a.elf .", ".: cannot be written");
    expect_failure("a.elf /dev/full", "/dev/full: cannot be written");
}

TEST(an_image_without_space_is_not_filled)
{
    struct elf_plan plan = plan_of(pair, 2);

    write_elf("a.elf", &plan);
    expect_failure("a.elf", "it reserves no space for a symbol table");
}

TEST(wrong_usage_is_explained)
{
    static const char *const wrong[] = {
        "",       "a b c",      "--width=48 a b", "--width=32 a",
        "--list", "--list a b", "--what"};

    for (size_t i = 0; i < COUNT(wrong); ++i) {
        assert_int_equal(run(wrong[i]), 2);
        assert_non_null(strstr(output, "usage: embed"));
    }
    assert_int_equal(run("--help"), 0);
    assert_memory_equal(output, "usage: embed", 12);
}
