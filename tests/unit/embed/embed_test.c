/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions the link step puts into a symbol table, with which names and
 * sizes: what it writes is opened by the profiler's own reader.
 */

#include "../unit.h"

#include <prof/error.h>
#include <prof/symbols.h>
#include <prof/symtab.h>

#include "embed_runner.h"

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
    char text[256];

    assert_true(prof_symbol_find(ELF_TEXT + offset, &found));
    assert_true(prof_symbol_name(&found, text, sizeof text) < sizeof text);
    assert_string_equal(text, name);
    assert_int_equal(found.start, ELF_TEXT + offset);
    assert_int_equal(found.size, size);
}

FIXTURE(make_folder, remove_folder);

/* Symbols, and all functions that they make; between these is none. */
static const struct image {
    const char *rule;
    struct elf_symbol symbols[16];
    struct {
        uintptr_t offset;
        const char *name;
        size_t size;
    } functions[8];
} images[] = {
    {"functions come sorted with their sizes",
     {FUNC("c", 0x80, 0x10), FUNC("a", 0x00, 0x20), FUNC("b", 0x20, 0x30)},
     {{0x00, "a", 0x20}, {0x20, "b", 0x30}, {0x80, "c", 0x10}}},
    {"a wide gap belongs to none",
     {FUNC("low", 0x00, 0x10), FUNC("high", 0x200, 0x10)},
     {{0x00, "low", 0x10}, {0x200, "high", 0x10}}},
    {"what states no size reaches to the next or the end",
     {LABEL("entry", 0x00), FUNC("asm_function", 0x30, 0),
      FUNC("sized", 0x40, 0x10), LABEL("last", 0x50)},
     {{0x00, "entry", 0x30},
      {0x30, "asm_function", 0x10},
      {0x40, "sized", 0x10},
      {0x50, "last", ELF_TEXT_BYTES - 0x50}}},
    {"what is no function is left out",
     {FUNC("kept", 0x00, 0x10),
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
      {"no_section", ELF_TEXT, 8, STT_FUNC, STB_GLOBAL, 999}},
     {{0x00, "kept", 0x10}}},
    {"parts that compilers split off are functions",
     {FUNC("f.cold", 0x00, 0x10),
      FUNC("f.part.0", 0x10, 0x10),
      {"chosen", ELF_TEXT + 0x20, 8, STT_GNU_IFUNC, STB_GLOBAL, ELF_IN_TEXT}},
     {{0x00, "f.cold", 0x10}, {0x10, "f.part.0", 0x10}, {0x20, "chosen", 8}}},
    {"of several names the rule chooses",
     {/* marked as a function before a bare label, with any binding */
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
      FUNC("ab", 0x60, 4)},
     {{0x00, "static_one", 8},
      {0x10, "sized", 4},
      {0x20, "glo", 4},
      {0x30, "wk", 4},
      {0x40, "write", 4},
      {0x50, "memcpy", 4},
      {0x60, "ab", 4}}},
    {"a label within a function does not cut it",
     {FUNC("outer", 0x00, 0x40), LABEL("resume_here", 0x20),
      LABEL("behind", 0x40)},
     {{0x00, "outer", 0x40}, {0x40, "behind", ELF_TEXT_BYTES - 0x40}}},
    /* As assembly is written that says nothing of its functions. */
    {"a local label behind a global one is a loop",
     {{"memcpy", ELF_TEXT, 0, STT_NOTYPE, STB_GLOBAL, ELF_IN_TEXT},
      {"loop", ELF_TEXT + 0x10, 0, STT_NOTYPE, STB_LOCAL, ELF_IN_TEXT},
      {"byte_copy", ELF_TEXT + 0x20, 0, STT_NOTYPE, STB_LOCAL, ELF_IN_TEXT},
      {"memset", ELF_TEXT + 0x30, 0, STT_NOTYPE, STB_GLOBAL, ELF_IN_TEXT},
      {"loop", ELF_TEXT + 0x38, 0, STT_NOTYPE, STB_LOCAL, ELF_IN_TEXT},
      FUNC("sized", 0x40, 0x10),
      {"helper", ELF_TEXT + 0x50, 0, STT_NOTYPE, STB_LOCAL, ELF_IN_TEXT}},
     {{0x00, "memcpy", 0x30},
      {0x30, "memset", 0x10},
      {0x40, "sized", 0x10},
      {0x50, "helper", ELF_TEXT_BYTES - 0x50}}},
    {"functions that overlap are trimmed",
     {FUNC("first", 0x00, 0x40), FUNC("second", 0x20, SIZE_MAX),
      FUNC("third", 0x30, ELF_TEXT_BYTES)},
     {{0x00, "first", 0x20},
      {0x20, "second", 0x10},
      {0x30, "third", ELF_TEXT_BYTES - 0x30}}},
};

TEST(functions_are_those_of_the_rules)
{
    for (size_t i = 0; i < COUNT(images); ++i) {
        const struct image *image = &images[i];
        struct elf_plan plan = plan_of(image->symbols, 0);
        struct prof_symbol found;
        uint32_t count = 0, wide_gaps = 0; /* these are entries, too */
        void *table;

        while (plan.count < COUNT(image->symbols) &&
               image->symbols[plan.count].name != NULL)
            ++plan.count;
        table = embed_and_open(&plan);
        for (; count < COUNT(image->functions) &&
               image->functions[count].name != NULL;
             ++count)
            expect_function(image->functions[count].offset,
                            image->functions[count].name,
                            image->functions[count].size);
        for (uint32_t f = 0; f + 1 < count; ++f) {
            uintptr_t end =
                image->functions[f].offset + image->functions[f].size;

            wide_gaps += image->functions[f + 1].offset - end >= 255;
            for (; end < image->functions[f + 1].offset; ++end)
                assert_false(prof_symbol_find(ELF_TEXT + end, &found));
        }
        if (prof_symbols_count() != count + wide_gaps)
            fail_msg("%s: %u functions", image->rule, prof_symbols_count());
        free(table);
    }
}

/* ---- names, raw and compressed */

#define MANY 200u

static char many_names[MANY][80];

/* MANY functions of 4 bytes, whose names are as C++ has them. */
static struct elf_plan plan_of_many(void)
{
    static struct elf_symbol symbols[MANY];

    for (unsigned i = 0; i < MANY; ++i) {
        snprintf(many_names[i], sizeof many_names[i],
                 "_ZN4llvm%u12SmallVectorI%cLj%uEE9push_back\xc3\xa9%u", i % 5,
                 'a' + (int)(i % 26), i / 3, i * i);
        symbols[i] = (struct elf_symbol)FUNC(many_names[i], i * 4, 4);
    }
    return plan_of(symbols, MANY);
}

TEST(names_are_compressed_where_it_saves_a_page)
{
    struct elf_plan plan = plan_of_many();
    struct prof_symtab *table = embed_and_open(&plan);

    assert_true(table->tokens_bytes > 0);
    for (unsigned i = 0; i < MANY; ++i)
        expect_function(i * 4, many_names[i], 4);
    free(table);
    plan.count = 20;
    table = embed_and_open(&plan);
    assert_int_equal(table->tokens_bytes, 0);
    for (unsigned i = 0; i < 20; ++i)
        expect_function(i * 4, many_names[i], 4);
    free(table);
}

TEST(a_name_too_long_for_a_table_ends_with_dots)
{
    static char name[PROF_SYMTAB_NAME_MAX + 200], text[sizeof name];
    struct elf_symbol symbols[] = {FUNC("f", 0, 4), FUNC(name, 4, 4)};
    struct elf_plan plan = plan_of(symbols, COUNT(symbols));
    struct prof_symbol found;
    struct prof_symtab *table;

    memset(name, 'n', sizeof name - 1);
    table = embed_and_open(&plan);
    assert_true(prof_symbol_find(ELF_TEXT + 4, &found));
    assert_int_equal(prof_symbol_name(&found, text, sizeof text),
                     PROF_SYMTAB_NAME_MAX);
    assert_memory_equal(text, name, PROF_SYMTAB_NAME_MAX - 3);
    assert_string_equal(text + PROF_SYMTAB_NAME_MAX - 3, "...");
    free(table);
}
