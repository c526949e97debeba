/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where lines and inlined functions are: sets of ranges, the guest's words for
 * them, and what is said where there is no code.
 */

#include "../unit.h"

#include "image/line_code.h"

#include <prof/causal.h>

static char *sources[] = {
    (char *)"kernel/main.c",
    (char *)"services/lottery/main.c",
    (char *)"/usr/include/inline.h",
};

/* Sources count from 1 on. */
static struct code_piece pieces[] = {
    {0x1000, 0x1008, 2, 40, NULL, false, 0},
    {0x1008, 0x1010, 2, 42, NULL, false, 0},
    {0x1010, 0x1018, 2, 44, NULL, false, 0},
    {0x1018, 0x1020, 2, 42, NULL, false, 0},
    {0x1020, 0x1024, 3, 7, NULL, false, 0}, /* inlined into line 42 */
    {0x1020, 0x1024, 2, 42, "twice(int)", true, 5},
    {0x2000, 0x2010, 1, 42, NULL, false, 0},
    {0x2010, 0x2014, 3, 7, NULL, false, 0},
    {0x2010, 0x2014, 1, 50, "twice(int)", true, 6},
    {0x2018, 0x201c, 3, 7, NULL, false, 0},
    {0x2018, 0x201c, 1, 50, "twice(int)", true, 6}, /* of the same copy */
    {0x3000, 0x3040, 0, 0, "itself", false, 7},
    {0x3010, 0x3020, 1, 60, "itself", true, 8}, /* recursion */
    {0x4000, 0x4040, 0, 0, "both", false, 9},
    {0x5000, 0x5004, 1, 61, "both", true, 10},
};

static const struct line_code code = {
    .image = "x.elf",
    .sources = sources,
    .source_count = COUNT(sources),
    .pieces = pieces,
    .piece_count = COUNT(pieces),
};

static struct code_ranges ranges;
static char why[IMAGE_WHY_MAX];

static void start_empty(void)
{
    ranges = (struct code_ranges){0};
    why[0] = '\0';
}

static void free_ranges(void)
{
    free(ranges.at);
}

FIXTURE(start_empty, free_ranges);

static enum line_code_result find(const char *text)
{
    free(ranges.at);
    return line_code_find(&code, text, &ranges, why);
}

static void are(const struct code_range *wanted, size_t count)
{
    assert_int_equal(ranges.count, count);
    for (size_t i = 0; i < count; ++i) {
        assert_int_equal(ranges.at[i].begin, wanted[i].begin);
        assert_int_equal(ranges.at[i].end, wanted[i].end);
    }
}

TEST(a_line_has_all_of_its_code_and_what_is_inlined_there)
{
    static const struct code_range wanted[] = {{0x1008, 0x1010},
                                               {0x1018, 0x1024}};

    assert_int_equal(find("lottery/main.c:42"), LINE_CODE_FOUND);
    are(wanted, COUNT(wanted));
    assert_int_equal(find("services/lottery/main.c:42"), LINE_CODE_FOUND);
    are(wanted, COUNT(wanted));
    assert_int_equal(ranges.inlined, 0);
}

TEST(a_line_of_an_inlined_function_is_in_all_copies)
{
    static const struct code_range wanted[] = {
        {0x1020, 0x1024}, {0x2010, 0x2014}, {0x2018, 0x201c}};

    assert_int_equal(find("inline.h:7"), LINE_CODE_FOUND);
    are(wanted, COUNT(wanted));
}

TEST(a_function_has_all_of_its_copies)
{
    static const struct code_range copies[] = {
        {0x1020, 0x1024}, {0x2010, 0x2014}, {0x2018, 0x201c}};
    static const struct code_range both[] = {{0x4000, 0x4040},
                                             {0x5000, 0x5004}};

    assert_int_equal(find("twice"), LINE_CODE_FOUND);
    are(copies, COUNT(copies));
    assert_int_equal(ranges.inlined, 2);
    assert_false(ranges.itself);
    assert_int_equal(find("twice(int)"), LINE_CODE_FOUND);
    are(copies, COUNT(copies));
    assert_int_equal(find("both"), LINE_CODE_FOUND);
    are(both, COUNT(both));
    assert_int_equal(ranges.inlined, 1);
    assert_true(ranges.itself);
}

TEST(what_is_not_inlined_elsewhere_is_left_to_the_guest)
{
    static const char *const names[] = {
        "itself", "unknown", "twic", "twice(", "0x1234",
        "a::b",   "::",      "",     ":42",
    };

    for (size_t i = 0; i < COUNT(names); ++i) {
        assert_int_equal(find(names[i]), LINE_CODE_SYMBOL);
        assert_int_equal(ranges.count, 0);
        assert_null(ranges.at);
    }
}

TEST(a_line_is_a_file_and_a_number)
{
    assert_true(line_code_is_line("main.c:42"));
    assert_true(line_code_is_line("a/b.rs:1"));
    assert_false(line_code_is_line("main.c"));
    assert_false(line_code_is_line("main.c:"));
    assert_false(line_code_is_line("main.c:4x"));
    assert_false(line_code_is_line("space::42"));
    assert_false(line_code_is_line(":42"));
    assert_false(line_code_is_line(""));
}

static void is_bad(const char *text, const char *wanted)
{
    assert_int_equal(find(text), LINE_CODE_BAD);
    assert_string_equal(why, wanted);
    assert_null(ranges.at);
}

TEST(errors_say_what_is_there)
{
    is_bad("no_such.c:42", "no_such.c: x.elf has no code of such a file");
    is_bad("ain.c:42", "ain.c: x.elf has no code of such a file");
    is_bad("main.c:42", "main.c: 2 files are called so, name more of the path: "
                        "kernel/main.c, services/lottery/main.c");
    is_bad("lottery/main.c:43",
           "services/lottery/main.c: no code at line 43; the nearest lines "
           "that have are 42 and 44");
    is_bad("lottery/main.c:1", "services/lottery/main.c: no code at line 1; "
                               "the nearest line that has is 40");
    is_bad("lottery/main.c:0", "services/lottery/main.c: no code at line 0; "
                               "the nearest line that has is 40");
    is_bad("lottery/main.c:99999999999999999999",
           "services/lottery/main.c: no code at line 99999999; the nearest "
           "line that has is 44");
}

TEST(without_debug_information_there_are_no_lines)
{
    const struct line_code none = {.image = "x.elf"};

    assert_int_equal(line_code_find(&none, "main.c:42", &ranges, why),
                     LINE_CODE_BAD);
    assert_string_equal(why, "main.c:42: x.elf has no debug information, which "
                             "says where a line is: compile it with -g");
    assert_int_equal(line_code_find(&none, "twice", &ranges, why),
                     LINE_CODE_SYMBOL);
}

TEST(long_names_are_cut_in_messages)
{
    static char *many[9], names[9][400];
    const struct line_code far = {.image = "x.elf",
                                  .sources = many,
                                  .source_count = COUNT(many),
                                  .pieces = pieces,
                                  .piece_count = COUNT(pieces)};
    char long_name[600];

    for (size_t i = 0; i < COUNT(many); ++i) {
        memset(names[i], 'a' + (int)i, sizeof names[i] - 8);
        strcpy(names[i] + sizeof names[i] - 9, "/same.c");
        many[i] = names[i];
    }
    assert_int_equal(line_code_find(&far, "same.c:1", &ranges, why),
                     LINE_CODE_BAD);
    assert_true(strlen(why) < IMAGE_WHY_MAX);
    assert_non_null(strstr(why, "9 files are called so"));
    memset(long_name, 'x', sizeof long_name);
    strcpy(long_name + sizeof long_name - 4, ":42");
    assert_int_equal(line_code_find(&far, long_name, &ranges, why),
                     LINE_CODE_BAD);
    assert_true(strlen(why) < IMAGE_WHY_MAX);
}

/* ---- words */

/* Sets (ranges) to (count) of them, 16 bytes apart. */
static void make_ranges(size_t count)
{
    ranges.at = calloc(count, sizeof *ranges.at);
    ranges.count = count;
    for (size_t i = 0; i < count; ++i)
        ranges.at[i] =
            (struct code_range){0x148000 + 16 * i, 0x148000 + 16 * i + 10};
}

TEST(words_name_all_ranges)
{
    size_t count;
    char **words;

    assert_int_equal(find("lottery/main.c:42"), LINE_CODE_FOUND);
    words = line_code_words(&ranges, "main.c:42", 128, &count, why);
    assert_int_equal(count, 1);
    assert_string_equal(words[0], "main.c:42@1008+8,1018+c");
    line_code_free_words(words, count);
}

/* Each has room for its NUL, and no range is missing or cut. */
TEST(long_sets_have_several_words)
{
    for (size_t room = 19; room < 140; ++room) {
        size_t count, found = 0;
        char **words;

        free(ranges.at);
        make_ranges(PROF_TARGET_RANGES_MAX);
        words = line_code_words(&ranges, "main.c:4", room, &count, why);
        assert_non_null(words);
        for (size_t i = 0; i < count; ++i) {
            char *rest = words[i] + strlen("main.c:4@");

            assert_true(strlen(words[i]) < room);
            assert_memory_equal(words[i], "main.c:4@", 9);
            for (; *rest != '\0'; ++found) {
                assert_int_equal(strtoull(rest, &rest, 16),
                                 ranges.at[found].begin);
                assert_int_equal(*rest++, '+');
                assert_int_equal(strtoull(rest, &rest, 16), 10);
                rest += *rest == ',';
            }
        }
        assert_int_equal(found, ranges.count);
        line_code_free_words(words, count);
    }
}

TEST(too_many_ranges_and_too_long_names_are_refused)
{
    char name[200];
    size_t count;

    make_ranges(PROF_TARGET_RANGES_MAX + 1);
    assert_null(line_code_words(&ranges, "main.c:4", 128, &count, why));
    assert_string_equal(
        why, "main.c:4: its code is in 65 places, and the guest takes 64 at "
             "most");
    ranges.count = 3;
    memset(name, 'x', sizeof name);
    name[120] = '\0';
    assert_null(line_code_words(&ranges, name, 128, &count, why));
    assert_non_null(strstr(why, ": the name is too long"));
    /* the second range is longer by a digit, and has no room */
    ranges.at[1].end = ranges.at[1].begin + 0x10;
    assert_null(line_code_words(&ranges, "main.c:4", 18, &count, why));
}
