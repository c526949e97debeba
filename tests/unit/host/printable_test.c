/* SPDX-License-Identifier: Apache-2.0 */
/* What controls a terminal is escaped, all else stays as it is. */

#include "../unit.h"

#include "base/text.h"

static const struct {
    const char *text;
    const char *wanted;
} cases[] = {
    {"", ""},
    {"plain ~name\\", "plain ~name\\"},
    {"\033[31m", "\\x1b[31m"},
    {"a\nb\tc\rd\001", "a\\x0ab\\x09c\\x0dd\\x01"},
    {"\177", "\\x7f"},
    {"\302\200\302\233\302\237", "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f"},
    {"\302\240\303\200", "\302\240\303\200"},
    {"\342\200\215", "\342\200\215"}, /* U+200D joins letters */
    {"\342\200\216\342\200\217", "\\xe2\\x80\\x8e\\xe2\\x80\\x8f"},
    {"\342\200\247", "\342\200\247"},
    {"\342\200\250\342\200\256", "\\xe2\\x80\\xa8\\xe2\\x80\\xae"},
    {"\342\200\257", "\342\200\257"},
    {"\342\201\245\342\201\246\342\201\251",
     "\342\201\245\\xe2\\x81\\xa6\\xe2\\x81\\xa9"},
    {"\360\237\230\200", "\360\237\230\200"},
    {"\377\300\200", "\\xff\\xc0\\x80"},
    {"cut \342\200", "cut \\xe2\\x80"},
};

TEST(texts_are_printable)
{
    for (size_t i = 0; i < COUNT(cases); ++i) {
        char text[64];

        assert_string_equal(printable(cases[i].text, text, sizeof text),
                            cases[i].wanted);
    }
}

TEST(a_stream_gets_the_same)
{
    for (size_t i = 0; i < COUNT(cases); ++i) {
        char *text = NULL;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);

        printable_put(out, cases[i].text);
        fclose(out);
        assert_string_equal(text, cases[i].wanted);
        free(text);
    }
}

/* It is cut between characters, and ends with a zero. */
TEST(any_room_is_kept)
{
    const char text[] = "a\033\303\244\342\202\254\377";
    const char whole[] = "a\\x1b\303\244\342\202\254\\xff";

    for (size_t room = 1; room <= sizeof whole; ++room) {
        char *to = malloc(room);

        printable(text, to, room);
        assert_true(strlen(to) < room);
        assert_memory_equal(to, whole, strlen(to));
        if (room == sizeof whole)
            assert_string_equal(to, whole);
        free(to);
    }
}
