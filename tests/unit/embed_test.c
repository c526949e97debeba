/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link step that writes symbol tables, as a program: what it makes of an
 * image is opened by the profiler's own reader.
 *
 * The program is the one that EMBED names in the environment, else
 * build/host/embed. Each test has an empty folder to write in.
 */

#include <prof/error.h>
#include <prof/symbols.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf_maker.h"

#define FUNC(name, value, size)                                                \
    {                                                                          \
        name, ELF_TEXT + (value), size, STT_FUNC, STB_GLOBAL, ELF_IN_TEXT      \
    }
#define LABEL(name, value)                                                     \
    {                                                                          \
        name, ELF_TEXT + (value), 0, STT_NOTYPE, STB_LOCAL, ELF_IN_TEXT        \
    }
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static char folder[64];
static char output[4096]; /* what the last run() printed, both streams */

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/embed_test_XXXXXX");
    return mkdtemp(folder) == NULL;
}

static const char *in_folder(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"a.elf", "b.elf", "out"};

    (void)state;
    for (size_t i = 0; i < COUNT(names); ++i)
        unlink(in_folder(names[i]));
    return rmdir(folder);
}

static void write_file(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(in_folder(name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void write_elf(const char *name, const struct elf_plan *plan)
{
    struct elf_file *file = elf_make(plan);

    write_file(name, file->bytes, file->used);
    free(file);
}

/* The bytes of (name), in memory of that length. */
static void *read_file(const char *name, size_t *count)
{
    FILE *file = fopen(in_folder(name), "rb");
    static uint8_t bytes[65536];
    void *copy;

    assert_non_null(file);
    *count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    copy = malloc(*count);
    memcpy(copy, bytes, *count);
    return copy;
}

/* Runs embed with (arguments) in the folder; returns its exit status. */
static int run(const char *arguments)
{
    const char *program = getenv("EMBED");
    char command[8192], path[4096];
    size_t used;
    FILE *pipe;

    if (program == NULL)
        program = "build/host/embed";
    assert_non_null(realpath(program, path));
    snprintf(command, sizeof command, "cd %s && '%s' %s 2>&1", folder, path,
             arguments);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    used = fread(output, 1, sizeof output - 1, pipe);
    output[used] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

/* One line, status 1, and (words) in it. */
static void expect_failure(const char *arguments, const char *words)
{
    assert_int_equal(run(arguments), 1);
    if (strstr(output, words) == NULL)
        fail_msg("\"%s\" is not in: %s", words, output);
    assert_ptr_equal(strchr(output, '\n'), output + strlen(output) - 1);
    assert_memory_equal(output, "embed: ", 7);
}

static struct elf_plan plan_of(const struct elf_symbol *symbols, size_t count)
{
    return (struct elf_plan){
        .symbols = symbols, .count = count, .build_id_bytes = 20};
}

/* The table of (plan), opened by the profiler; the caller frees it. */
static void *embed_and_open(const struct elf_plan *plan)
{
    uint8_t id[20];
    size_t bytes;
    void *table;

    for (unsigned i = 0; i < sizeof id; ++i)
        id[i] = (uint8_t)(0xa0 + i);
    write_elf("a.elf", plan);
    assert_int_equal(run("a.elf out"), 0);
    assert_string_equal(output, "");
    table = read_file("out", &bytes);
    assert_int_equal(prof_symbols_open(table, bytes, id, sizeof id), PROF_OK);
    return table;
}

static void expect_function(uintptr_t offset, const char *name, size_t size)
{
    struct prof_symbol found;

    assert_true(prof_symbol_find(ELF_TEXT + offset, &found));
    assert_string_equal(found.name, name);
    assert_int_equal(found.start, ELF_TEXT + offset);
    assert_int_equal(found.size, size);
}

static void functions_come_sorted_with_their_sizes(void **state)
{
    static const struct elf_symbol symbols[] = {
        FUNC("c", 0x80, 0x10), FUNC("a", 0x00, 0x20), FUNC("b", 0x20, 0x30)};
    struct elf_plan plan = plan_of(symbols, COUNT(symbols));
    void *table = embed_and_open(&plan);
    struct prof_symbol found;

    (void)state;
    assert_int_equal(prof_symbols_count(), 3);
    expect_function(0x00, "a", 0x20);
    expect_function(0x20, "b", 0x30);
    expect_function(0x80, "c", 0x10);
    assert_false(prof_symbol_find(ELF_TEXT + 0x50, &found));
    free(table);
}

static void what_states_no_size_reaches_to_the_next_or_the_end(void **state)
{
    static const struct elf_symbol symbols[] = {
        LABEL("entry", 0x00), FUNC("asm_function", 0x30, 0),
        FUNC("sized", 0x40, 0x10), LABEL("last", 0x50)};
    struct elf_plan plan = plan_of(symbols, COUNT(symbols));
    void *table = embed_and_open(&plan);

    (void)state;
    expect_function(0x00, "entry", 0x30);
    expect_function(0x30, "asm_function", 0x10);
    expect_function(0x50, "last", ELF_TEXT_BYTES - 0x50);
    free(table);
}

static void what_is_no_function_is_left_out(void **state)
{
    static const struct elf_symbol symbols[] = {
        FUNC("kept", 0x00, 0x10),
        LABEL("kept.loop", 0x08),
        LABEL(".local", 0x10),
        LABEL("$x", 0x14),
        LABEL("", 0x18),
        LABEL("text_end", ELF_TEXT_BYTES),
        {"object", ELF_TEXT + 0x20, 8, STT_OBJECT, STB_GLOBAL, ELF_IN_TEXT},
        {"", ELF_TEXT + 0x20, 0, STT_SECTION, STB_LOCAL, ELF_IN_TEXT},
        {"file.c", ELF_TEXT + 0x20, 0, STT_FILE, STB_LOCAL, SHN_ABS},
        {"constant", ELF_TEXT + 0x20, 0, STT_NOTYPE, STB_GLOBAL, SHN_ABS},
        {"undefined", 0, 0, STT_FUNC, STB_GLOBAL, SHN_UNDEF},
        {"variable", ELF_DATA, 0, STT_NOTYPE, STB_GLOBAL, ELF_IN_DATA},
        {"in_data", ELF_DATA, 8, STT_FUNC, STB_GLOBAL, ELF_IN_DATA},
        {"outside", ELF_TEXT - 1, 8, STT_FUNC, STB_GLOBAL, ELF_IN_TEXT},
        {"no_section", ELF_TEXT, 8, STT_FUNC, STB_GLOBAL, 999},
    };
    struct elf_plan plan = plan_of(symbols, COUNT(symbols));
    void *table = embed_and_open(&plan);

    (void)state;
    assert_int_equal(prof_symbols_count(), 1);
    expect_function(0x00, "kept", 0x10);
    free(table);
}

static void parts_that_compilers_split_off_are_functions(void **state)
{
    static const struct elf_symbol symbols[] = {
        FUNC("f.cold", 0x00, 0x10),
        FUNC("f.part.0", 0x10, 0x10),
        {"chosen", ELF_TEXT + 0x20, 8, STT_GNU_IFUNC, STB_GLOBAL, ELF_IN_TEXT}};
    struct elf_plan plan = plan_of(symbols, COUNT(symbols));
    void *table = embed_and_open(&plan);

    (void)state;
    expect_function(0x00, "f.cold", 0x10);
    expect_function(0x10, "f.part.0", 0x10);
    expect_function(0x20, "chosen", 8);
    free(table);
}

static void of_several_names_the_rule_chooses(void **state)
{
    static const struct elf_symbol symbols[] = {
        /* marked as a function before a bare label, whatever its binding */
        {"text_begin", ELF_TEXT, 0, STT_NOTYPE, STB_GLOBAL, ELF_IN_TEXT},
        {"static_one", ELF_TEXT, 8, STT_FUNC, STB_LOCAL, ELF_IN_TEXT},
        /* with a size before without */
        FUNC("a", 0x10, 0),
        FUNC("sized", 0x10, 4),
        /* global before weak before local */
        {"l", ELF_TEXT + 0x20, 4, STT_FUNC, STB_LOCAL, ELF_IN_TEXT},
        {"wk", ELF_TEXT + 0x20, 4, STT_FUNC, STB_WEAK, ELF_IN_TEXT},
        {"glo", ELF_TEXT + 0x20, 4, STT_FUNC, STB_GLOBAL, ELF_IN_TEXT},
        {"l", ELF_TEXT + 0x30, 4, STT_FUNC, STB_LOCAL, ELF_IN_TEXT},
        {"wk", ELF_TEXT + 0x30, 4, STT_FUNC, STB_WEAK, ELF_IN_TEXT},
        /* no leading underscore, then the shorter, then the alphabet */
        FUNC("_r", 0x40, 4),
        FUNC("write", 0x40, 4),
        FUNC("memmove", 0x50, 4),
        FUNC("memcpy", 0x50, 4),
        FUNC("bb", 0x60, 4),
        FUNC("ab", 0x60, 4)};
    struct elf_plan plan = plan_of(symbols, COUNT(symbols));
    void *table = embed_and_open(&plan);

    (void)state;
    assert_int_equal(prof_symbols_count(), 7);
    expect_function(0x00, "static_one", 8);
    expect_function(0x10, "sized", 4);
    expect_function(0x20, "glo", 4);
    expect_function(0x30, "wk", 4);
    expect_function(0x40, "write", 4);
    expect_function(0x50, "memcpy", 4);
    expect_function(0x60, "ab", 4);
    free(table);
}

static void a_label_within_a_function_does_not_cut_it(void **state)
{
    static const struct elf_symbol symbols[] = {FUNC("outer", 0x00, 0x40),
                                                LABEL("resume_here", 0x20),
                                                LABEL("behind", 0x40)};
    struct elf_plan plan = plan_of(symbols, COUNT(symbols));
    void *table = embed_and_open(&plan);

    (void)state;
    assert_int_equal(prof_symbols_count(), 2);
    expect_function(0x00, "outer", 0x40);
    expect_function(0x40, "behind", ELF_TEXT_BYTES - 0x40);
    free(table);
}

static void functions_that_overlap_are_trimmed(void **state)
{
    static const struct elf_symbol symbols[] = {
        FUNC("first", 0x00, 0x40), FUNC("second", 0x20, SIZE_MAX),
        FUNC("third", 0x30, ELF_TEXT_BYTES)};
    struct elf_plan plan = plan_of(symbols, COUNT(symbols));
    void *table = embed_and_open(&plan);

    (void)state;
    expect_function(0x00, "first", 0x20);
    expect_function(0x20, "second", 0x10);
    expect_function(0x30, "third", ELF_TEXT_BYTES - 0x30);
    free(table);
}

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

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(functions_come_sorted_with_their_sizes),
        TEST(what_states_no_size_reaches_to_the_next_or_the_end),
        TEST(what_is_no_function_is_left_out),
        TEST(parts_that_compilers_split_off_are_functions),
        TEST(of_several_names_the_rule_chooses),
        TEST(a_label_within_a_function_does_not_cut_it),
        TEST(functions_that_overlap_are_trimmed),
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
