/* SPDX-License-Identifier: Apache-2.0 */
/* A function's name as the report shows it: whole, or cut where one sees it. */

#include "../unit.h"

#include <prof/error.h>
#include <prof/name.h>
#include <prof/symbols.h>

#include "table_maker.h"

/* As name.c has them: what a name may have to be demangled, and be shown. */
#define DEMANGLED_BELOW 1280u
#define SHOWN_BELOW 2304u

static char written[65536];
static size_t written_bytes;

static void take(const char *text, size_t bytes)
{
    memcpy(written + written_bytes, text, bytes);
    written_bytes += bytes;
    written[written_bytes] = '\0';
}

/* What is written for a function that is called (name). */
static const char *written_for(const char *name, size_t width)
{
    const struct made_function one = {0, 1, name};
    struct made_table made = made_table(MADE_BASE, &one, 1);
    struct prof_symbol symbol;
    struct prof_text out;

    written_bytes = 0;
    assert_int_equal(made_open(&made), PROF_OK);
    assert_true(prof_symbol_find(MADE_BASE, &symbol));
    prof_text_open(&out, take);
    prof_name_write(&out, &symbol, width);
    prof_text_flush(&out);
    assert_int_equal(out.column, written_bytes);
    free(made.head);
    return written;
}

/* (count) times 'x', and then (end). Valid until the next but one call. */
static const char *xs(size_t count, const char *end)
{
    static char names[2][PROF_SYMTAB_NAME_MAX + 1];
    static unsigned next;
    char *name = names[next++ % 2];

    memset(name, 'x', count);
    strcpy(name + count, end);
    return name;
}

TEST(names_are_whole_or_cut_where_one_sees_it)
{
    static const struct {
        const char *name;
        size_t width; /* 0: any */
        const char *written;
    } rows[] = {
        {"f", 0, "f"},
        {"service_main", 0, "service_main"},
        /* what fits its columns */
        {"service_main", 12, "service_main"},
        {"service_main", 13, "service_main"},
        {"f", 1, "f"},
        {"abc", 3, "abc"},
        /* and what does not */
        {"service_main", 11, "service_..."},
        {"service_main", 4, "s..."},
        {"service_main", 3, "..."},
        {"service_main", 2, ".."},
        {"service_main", 1, "."},
        /* Whatever is in a table may not steer the terminal; 0xc2 0x9b is a
           control sequence introducer in UTF-8, 0xc3 0x9b a letter. */
        {"a\x1b[2Jb\nc\x7f", 0, "a?[2Jb?c?"},
        {"a\xc2\x9b"
         "b\xc2",
         0, "a?b\xc2"},
        {"\x01\x02", 2, "??"},
        /* characters are counted, and never cut */
        {"\xc3\xa9t\xc3\xa9_\xe2\x82\xac", 5, "\xc3\xa9t\xc3\xa9_\xe2\x82\xac"},
        {"\xc3\xa9t\xc3\xa9_\xe2\x82\xac", 4, "\xc3\xa9..."},
        {"\xc3\xa9t\xc3\xa9_\xe2\x82\xac", 3, "..."},
    };

    for (size_t i = 0; i < COUNT(rows); ++i)
        assert_string_equal(written_for(rows[i].name, rows[i].width),
                            rows[i].written);
}

TEST(a_name_too_long_to_be_demangled_is_still_whole)
{
    for (size_t count = DEMANGLED_BELOW - 3; count < DEMANGLED_BELOW + 3;
         ++count)
        assert_string_equal(written_for(xs(count, ""), 0), xs(count, ""));
    assert_string_equal(written_for(xs(SHOWN_BELOW - 1, ""), 0),
                        xs(SHOWN_BELOW - 1, ""));
    assert_string_equal(written_for(xs(1500, "end"), 0), xs(1500, "end"));
}

TEST(a_name_too_long_to_be_shown_ends_with_dots)
{
    assert_string_equal(written_for(xs(SHOWN_BELOW, ""), 0),
                        xs(SHOWN_BELOW - 2, "..."));
    assert_string_equal(written_for(xs(PROF_SYMTAB_NAME_MAX, ""), 0),
                        xs(SHOWN_BELOW - 2, "..."));
    assert_string_equal(written_for(xs(SHOWN_BELOW, ""), 50), xs(47, "..."));
    assert_string_equal(written_for(xs(SHOWN_BELOW, ""), 4097),
                        xs(SHOWN_BELOW - 2, "..."));
}

TEST(a_character_at_the_end_of_the_room_is_not_cut)
{
    /* its first byte is the last that there is room for */
    assert_string_equal(written_for(xs(SHOWN_BELOW - 2, "\xe2\x82\xac"), 0),
                        xs(SHOWN_BELOW - 2, "..."));
    assert_string_equal(written_for(xs(SHOWN_BELOW - 3, "\xe2\x82\xac"), 0),
                        xs(SHOWN_BELOW - 3, "..."));
}
