/* SPDX-License-Identifier: Apache-2.0 */

/* What is UTF-8, by the table of RFC 3629, and what only looks like it. */

#include "../unit.h"

#include "base/text.h"

struct row {
    const char *text;
    int bytes;
};

/* Each text is copied to a block of its own size, so that a look beyond its
 * end is seen. */
static void check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *text = strdup(rows[i].text);

        assert_non_null(text);
        assert_int_equal(utf8_bytes(text), rows[i].bytes);
        free(text);
    }
}

TEST(characters_have_their_bytes)
{
    static const struct row rows[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xc3\xa9more", 2},
    };

    check(rows, sizeof rows / sizeof *rows);
}

TEST(other_bytes_are_none)
{
    static const struct row rows[] = {
        {"\x80", 0},             /* no beginning */
        {"\xbf\xbf", 0},         /* the same */
        {"\xc0\x80", 0},         /* too long for what it says */
        {"\xc1\xbf", 0},         /* too long */
        {"\xe0\x9f\xbf", 0},     /* too long */
        {"\xf0\x8f\xbf\xbf", 0}, /* too long */
        {"\xed\xa0\x80", 0},     /* a surrogate */
        {"\xed\xbf\xbf", 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 0}, /* above Unicode */
        {"\xf5\x80\x80\x80", 0}, /* above Unicode */
        {"\xff", 0},
        {"\xc3", 0},         /* cut */
        {"\xe2\x82", 0},     /* cut */
        {"\xf0\x9f\x98", 0}, /* cut */
        {"\xc3q", 0},        /* cut, with more after it */
        {"\xe2\x82q", 0},
    };

    check(rows, sizeof rows / sizeof *rows);
}

TEST(other_bytes_are_replaced)
{
    static const char *const rows[][2] = {
        {"", NULL},
        {"gr\xc3\xb6\xc3\x9f"
         "e",
         NULL},
        {"\xff", "\xef\xbf\xbd"},
        {"a\xffz", "a\xef\xbf\xbdz"},
        {"\xc3", "\xef\xbf\xbd"},
        {"\xe2\x82(\xe2\x82\xac", "\xef\xbf\xbd\xef\xbf\xbd(\xe2\x82\xac"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = strdup(rows[i][0]), *mended;

        assert_non_null(text);
        mended = utf8_mended(text);
        if (rows[i][1] == NULL)
            assert_null(mended);
        else
            assert_string_equal(mended, rows[i][1]);
        free(mended);
        free(text);
    }
}
