/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names from an ELF symbol table: which symbols are functions and how far they
 * reach, and what damage may do: no names, or others, but nothing outside of
 * the table is read or written. Tables and names are blocks of their own size,
 * so that the address sanitizer notices.
 */

#include "../unit.h"

#include <elf.h>
#include <prof/error.h>
#include <prof/symbols.h>

#include "table_maker.h"

#if UINTPTR_MAX > UINT32_MAX
typedef Elf64_Sym elf_sym;
#define INFO ELF64_ST_INFO
#else
typedef Elf32_Sym elf_sym;
#define INFO ELF32_ST_INFO
#endif

#define CODE 0x800000u
#define CODE_END 0x810000u
#define FUNCTION INFO(STB_GLOBAL, STT_FUNC)
#define STATIC INFO(STB_LOCAL, STT_FUNC)
#define WEAK INFO(STB_WEAK, STT_FUNC)
#define LABEL INFO(STB_GLOBAL, STT_NOTYPE)
#define LOCAL_LABEL INFO(STB_LOCAL, STT_NOTYPE)
#define OBJECT INFO(STB_GLOBAL, STT_OBJECT)
#define MANY 100000u

struct line {
    const char *name;
    uintptr_t value;
    uintptr_t size;
    unsigned char info;
    uint16_t section;
};

static struct prof_elf_symbols given;

static void drop(void)
{
    free(given.symbols);
    free((void *)(uintptr_t)given.strings);
    memset(&given, 0, sizeof given);
    prof_symbols_open(NULL, 0, NULL, 0);
}

FIXTURE(NULL, drop);

/* Makes a table of (count) lines. */
static void make(const struct line *lines, size_t count)
{
    elf_sym *symbols = calloc(count, sizeof *symbols);
    char *strings;
    size_t bytes = 1;

    for (size_t i = 0; i < count; i++)
        bytes += strlen(lines[i].name) + 1;
    strings = calloc(bytes, 1);
    bytes = 1;
    for (size_t i = 0; i < count; i++) {
        size_t more = strlen(lines[i].name) + 1;

        memcpy(strings + bytes, lines[i].name, more);
        symbols[i].st_name = (uint32_t)bytes;
        symbols[i].st_value = lines[i].value;
        symbols[i].st_size = lines[i].size;
        symbols[i].st_info = lines[i].info;
        symbols[i].st_shndx = lines[i].section;
        bytes += more;
    }
    given = (struct prof_elf_symbols){
        symbols, count * sizeof *symbols, sizeof *symbols, strings, bytes, CODE,
        CODE_END};
}

static void expect(uintptr_t address, const char *name, uintptr_t start,
                   size_t size)
{
    struct prof_symbol found;

    if (!prof_symbol_find(address, &found))
        fail_msg("nothing at %#lx, which is in %s", (unsigned long)address,
                 name);
    assert_string_equal(made_name_of(&found), name);
    assert_int_equal(found.start, start);
    assert_int_equal(found.size, size);
}

static void expect_nothing(uintptr_t address)
{
    struct prof_symbol found = {.index = 77};

    assert_false(prof_symbol_find(address, &found));
    assert_int_equal(found.index, 77);
}

TEST(functions_are_found_in_any_order)
{
    static const struct line lines[] = {
        {"", 0, 0, 0, 0},
        {"file.c", 0, 0, INFO(STB_LOCAL, STT_FILE), SHN_ABS},
        {"last", CODE + 0x300, 0, FUNCTION, 1},
        {"table", 0x200000, 64, OBJECT, 2},
        {"second", CODE + 0x20, 0x10, STATIC, 1},
        {"first", CODE, 0x20, FUNCTION, 1},
        {"elsewhere", 0, 0, FUNCTION, SHN_UNDEF},
        {"data_in_code", CODE + 0x100, 8, OBJECT, 1},
        {"ifunc", CODE + 0x80, 8, INFO(STB_GLOBAL, STT_GNU_IFUNC), 1},
    };

    make(lines, COUNT(lines));
    assert_int_equal(prof_symbols_elf(&given), PROF_OK);
    assert_int_equal(prof_symbols_error(), PROF_OK);
    assert_int_equal(prof_symbols_count(), 4);
    expect(CODE, "first", CODE, 0x20);
    expect(CODE + 0x1f, "first", CODE, 0x20);
    expect(CODE + 0x20, "second", CODE + 0x20, 0x10);
    expect_nothing(CODE + 0x30);
    expect(CODE + 0x87, "ifunc", CODE + 0x80, 8);
    expect_nothing(CODE + 0x100);
    expect(CODE + 0x300, "last", CODE + 0x300, CODE_END - CODE - 0x300);
    expect(CODE_END - 1, "last", CODE + 0x300, CODE_END - CODE - 0x300);
    expect_nothing(CODE_END);
    expect_nothing(CODE - 1);
    expect_nothing(0);
    expect_nothing(UINTPTR_MAX);
}

/* As in host/symbols/function_symbols.c. */
TEST(the_best_name_of_an_address_is_taken)
{
    static const struct line lines[] = {
        {"label", CODE, 0, LABEL, 1},
        {"weak", CODE, 0x10, WEAK, 1},
        {"_memcpy", CODE, 0x10, FUNCTION, 1},
        {"unsized", CODE, 0, FUNCTION, 1},
        {"memcpy_longer", CODE, 0x10, FUNCTION, 1},
        {"memcpy", CODE, 0x10, FUNCTION, 1},
        {"memmove", CODE, 0x10, FUNCTION, 1},
        {"local", CODE, 0x10, STATIC, 1},
        {"bbb", CODE + 0x10, 0x10, FUNCTION, 1},
        {"aaa", CODE + 0x10, 0x10, FUNCTION, 1},
    };

    make(lines, COUNT(lines));
    assert_int_equal(prof_symbols_elf(&given), PROF_OK);
    assert_int_equal(prof_symbols_count(), 2);
    expect(CODE + 5, "memcpy", CODE, 0x10);
    expect(CODE + 0x15, "aaa", CODE + 0x10, 0x10);
}

TEST(labels_within_a_function_do_not_cut_it)
{
    static const struct line lines[] = {
        {"sized", CODE, 0x40, FUNCTION, 1},
        {"in_sized", CODE + 0x10, 0, LABEL, 1},
        {"assembly", CODE + 0x80, 0, LABEL, 1},
        {"loop", CODE + 0x90, 0, LOCAL_LABEL, 1},
        {"next.loop", CODE + 0xa0, 0, LABEL, 1},
        {"$x", CODE + 0xb0, 0, LABEL, 1},
        {"more_assembly", CODE + 0xc0, 0, LABEL, 1},
        {"other_section", CODE + 0xd0, 0, LOCAL_LABEL, 2},
        {"absolute", CODE + 0xe0, 0, LABEL, SHN_ABS},
    };

    make(lines, COUNT(lines));
    assert_int_equal(prof_symbols_elf(&given), PROF_OK);
    expect(CODE + 0x3f, "sized", CODE, 0x40);
    expect_nothing(CODE + 0x40);
    expect(CODE + 0xbf, "assembly", CODE + 0x80, 0x40);
    expect(CODE + 0xcf, "more_assembly", CODE + 0xc0, 0x10);
    expect(CODE + 0xff, "other_section", CODE + 0xd0, CODE_END - CODE - 0xd0);
}

TEST(functions_that_overlap_end_where_the_next_begins)
{
    static const struct line lines[] = {
        {"long", CODE, UINTPTR_MAX, FUNCTION, 1},
        {"inner", CODE + 0x10, 0x10, FUNCTION, 1},
        {"at_the_end", CODE_END - 4, UINTPTR_MAX, FUNCTION, 1},
        {"outside", CODE_END, 4, FUNCTION, 1},
        {"before", CODE - 4, 8, FUNCTION, 1},
    };

    make(lines, COUNT(lines));
    assert_int_equal(prof_symbols_elf(&given), PROF_OK);
    assert_int_equal(prof_symbols_count(), 3);
    expect(CODE + 0xf, "long", CODE, 0x10);
    expect(CODE + 0x1f, "inner", CODE + 0x10, 0x10);
    expect_nothing(CODE + 0x20);
    expect(CODE_END - 1, "at_the_end", CODE_END - 4, 4);
    expect_nothing(CODE_END);
}

TEST(an_image_that_has_moved_finds_its_functions)
{
    static const struct line lines[] = {{"one", CODE, 0x20, FUNCTION, 1}};

    prof_symbols_moved(0x7000000);
    make(lines, COUNT(lines));
    assert_int_equal(prof_symbols_elf(&given), PROF_OK);
    prof_symbols_moved(0);
    expect(CODE + 0x7000000, "one", CODE + 0x7000000, 0x20);
    expect_nothing(CODE);
}

TEST(names_are_cut_as_asked)
{
    static const struct line lines[] = {{"function", CODE, 0x20, FUNCTION, 1}};
    struct prof_symbol found, gone = {.index = 5};
    char out[5];

    make(lines, COUNT(lines));
    assert_int_equal(prof_symbols_elf(&given), PROF_OK);
    assert_true(prof_symbol_find(CODE, &found));
    assert_int_equal(prof_symbol_name(&found, NULL, 0), 8);
    assert_int_equal(prof_symbol_name(&found, out, sizeof out), 8);
    assert_string_equal(out, "func");
    assert_int_equal(prof_symbol_name(&gone, out, sizeof out), 0);
    assert_string_equal(out, "");
    prof_symbols_open(NULL, 0, NULL, 0);
    assert_int_equal(prof_symbol_name(&found, out, sizeof out), 0);
    assert_string_equal(out, "");
}

TEST(the_last_table_that_was_opened_is_in_use)
{
    static const struct line lines[] = {{"of_elf", CODE, 0x20, FUNCTION, 1}};
    struct made_table made = made_five();

    make(lines, COUNT(lines));
    assert_int_equal(made_open(&made), PROF_OK);
    assert_int_equal(prof_symbols_elf(&given), PROF_OK);
    assert_int_equal(prof_symbols_count(), 1);
    expect(CODE, "of_elf", CODE, 0x20);
    expect_nothing(MADE_BASE);
    assert_int_equal(made_open(&made), PROF_OK);
    expect(MADE_BASE, "first", MADE_BASE, 0x10);
    expect_nothing(CODE);
    given.entry_bytes = 1;
    assert_int_equal(prof_symbols_elf(&given), PROF_ESYM_WIDTH);
    expect_nothing(MADE_BASE);
    free(made.head);
}

/* ---- damage */

static void expect_error(int error)
{
    assert_int_equal(prof_symbols_elf(&given), error);
    assert_int_equal(prof_symbols_error(), error);
    assert_int_equal(prof_symbols_count(), 0);
    expect_nothing(CODE);
}

TEST(a_table_that_is_none_is_refused)
{
    static const struct line lines[] = {
        {"one", CODE, 0x20, FUNCTION, 1},
        {"two", CODE + 0x20, 0x20, FUNCTION, 1},
    };
    const struct prof_elf_symbols none = {0};
    struct prof_elf_symbols sound;

    assert_int_equal(prof_symbols_elf(&none), PROF_ESYM_NONE);
    make(lines, COUNT(lines));
    sound = given;
#define CASE(field, value, error)                                              \
    given.field = value;                                                       \
    expect_error(error);                                                       \
    given = sound
    CASE(symbols, NULL, PROF_ESYM_NONE);
    CASE(symbols_bytes, 0, PROF_ESYM_NONE);
    CASE(symbols_bytes, sizeof(elf_sym) - 1, PROF_ESYM_NONE);
    CASE(strings, NULL, PROF_ESYM_NONE);
    CASE(strings_bytes, 0, PROF_ESYM_NONE);
    CASE(entry_bytes, 0, PROF_ESYM_WIDTH);
    CASE(entry_bytes, 40 - sizeof(elf_sym), PROF_ESYM_WIDTH);
    CASE(symbols, (char *)sound.symbols + 1, PROF_ESYM_LAYOUT);
    CASE(symbols_bytes, UINTPTR_MAX, PROF_ESYM_LAYOUT);
    CASE(strings_bytes, UINTPTR_MAX, PROF_ESYM_LAYOUT);
    CASE(strings, (const char *)sound.symbols + 4, PROF_ESYM_LAYOUT);
    CASE(strings_bytes, sound.strings_bytes - 1, PROF_ESYM_NAME);
    CASE(code_end, CODE, PROF_ESYM_NONE);
    CASE(code_end, 0, PROF_ESYM_NONE);
    CASE(code_begin, CODE + 0x40, PROF_ESYM_NONE);
    assert_int_equal(prof_symbols_elf(&given), PROF_OK);
    expect(CODE, "one", CODE, 0x20);
    assert_int_equal(prof_symbols_elf(&given), PROF_OK);
    expect(CODE + 0x20, "two", CODE + 0x20, 0x20);
}

TEST(symbols_with_damage_are_left_out)
{
    static const struct line lines[] = {
        {"nowhere", CODE, 0x20, FUNCTION, 1},
        {"nameless", CODE + 0x20, 0x20, FUNCTION, 1},
        {"sound", CODE + 0x40, 0x20, FUNCTION, 1},
    };
    elf_sym *symbols;

    make(lines, COUNT(lines));
    symbols = given.symbols;
    symbols[0].st_name = (uint32_t)given.strings_bytes;
    symbols[1].st_name = 0;
    assert_int_equal(prof_symbols_elf(&given), PROF_OK);
    assert_int_equal(prof_symbols_count(), 1);
    expect_nothing(CODE);
    expect_nothing(CODE + 0x20);
    expect(CODE + 0x40, "sound", CODE + 0x40, 0x20);
}

/* Whatever is in it: every function has a name and a place of its own. */
static void look_at_all(void)
{
    struct prof_symbol found = {0};
    uintptr_t end = CODE;
    uint32_t count = prof_symbols_count(), seen = 0;

    for (uintptr_t at = CODE; at < CODE_END; at++) {
        if (!prof_symbol_find(at, &found))
            continue;
        assert_int_equal(found.start, at);
        assert_true(found.size != 0 && found.size <= CODE_END - at);
        assert_int_equal(found.index, seen++);
        assert_true(found.start >= end);
        assert_true(prof_symbol_name(&found, NULL, 0) > 0);
        end = at + found.size;
        at = end - 1;
    }
    assert_int_equal(seen, count);
}

TEST(bytes_at_random_do_no_harm)
{
    for (unsigned round = 0; round < 100; round++) {
        uint32_t count = 1 + unit_below(200);
        struct line *lines = calloc(count, sizeof *lines);
        unsigned char *bytes;

        for (uint32_t i = 0; i < count; i++)
            lines[i] = (struct line){"abc" + unit_below(3),
                                     CODE + unit_below(CODE_END - CODE),
                                     unit_below(300) - 100u, FUNCTION, 1};
        make(lines, count);
        bytes = given.symbols;
        for (uint32_t i = unit_below(500); i-- > 0;)
            bytes[unit_below((uint32_t)given.symbols_bytes)] =
                (unsigned char)unit_random();
        given.symbols_bytes -= unit_below(sizeof(elf_sym));
        (void)prof_symbols_elf(&given);
        look_at_all();
        free(lines);
        drop();
    }
}

/* Also where all begin at one address, and in descending order. */
TEST(large_tables_are_sorted)
{
    struct line *lines = calloc(MANY, sizeof *lines);

    for (unsigned kind = 0; kind < 3; kind++) {
        for (uint32_t i = 0; i < MANY; i++)
            lines[i] =
                (struct line){kind == 2 ? "same" : "one", 1, 1, FUNCTION, 1};
        for (uint32_t i = 0; i < MANY; i++)
            lines[i].value = kind == 0   ? CODE + i * 16
                             : kind == 1 ? CODE + (MANY - i) * 16
                                         : CODE;
        make(lines, MANY);
        given.code_end = CODE + (MANY + 1) * 16;
        assert_int_equal(prof_symbols_elf(&given), PROF_OK);
        assert_int_equal(prof_symbols_count(), kind == 2 ? 1 : MANY);
        expect(CODE + 1600 * (kind < 2), kind == 2 ? "same" : "one",
               CODE + 1600 * (kind < 2), 1);
        drop();
    }
    free(lines);
}
