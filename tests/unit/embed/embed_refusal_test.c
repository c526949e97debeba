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

#define GOOD .symbols = pair, .count = 2, .build_id_bytes = 20

TEST(what_cannot_be_used_is_refused)
{
    static const struct {
        struct elf_plan plan; /* of a.elf, or */
        const char *bytes;    /* all that it is */
        const char *arguments, *words;
    } rows[] = {
        {{GOOD}, NULL, "missing.elf out", "cannot be read"},
        {{GOOD}, NULL, ". out", "not a file"},
        {{GOOD}, "#!/bin/sh\n", "a.elf out", "not an ELF file"},
        {{GOOD}, "", "a.elf out", "not an ELF file"},
        {{GOOD, .type = ET_REL}, NULL, "a.elf out", "not a linked image"},
        {{.symbols = pair, .build_id_bytes = 20},
         NULL,
         "a.elf out",
         "no function"},
        {{GOOD, .stripped = true}, NULL, "a.elf out", "no symbol table"},
        {{GOOD, .stripped = true}, NULL, "--list a.elf", "no symbol table"},
        {{.symbols = pair, .count = 2}, NULL, "a.elf out", "no build-id"},
        {{.symbols = pair, .count = 2, .build_id_bytes = 36},
         NULL,
         "a.elf out",
         "a build-id of 36 bytes"},
        {{GOOD}, NULL, "a.elf missing/out", "missing/out: cannot be written"},
        {{GOOD}, NULL, "a.elf .", ".: cannot be written"},
        {{GOOD}, NULL, "a.elf /dev/full", "/dev/full: cannot be written"},
        {{GOOD}, NULL, "a.elf", "it reserves no space for a symbol table"},
    };

    for (size_t i = 0; i < COUNT(rows); ++i) {
        if (rows[i].bytes != NULL)
            write_file("a.elf", rows[i].bytes, strlen(rows[i].bytes));
        else
            write_elf("a.elf", &rows[i].plan);
        expect_failure(rows[i].arguments, rows[i].words);
    }
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
