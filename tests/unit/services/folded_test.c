/* SPDX-License-Identifier: Apache-2.0 */
/* Folded call stacks of another machine, as samples of functions. */

#include "../unit.h"

#include "../../../services/watch/folded.h"

static struct folded folded;
static char *text;

/* On the heap, so that AddressSanitizer sees what is read beyond it. */
static void read_bytes(const char *bytes, size_t count)
{
    text = malloc(count + 1);
    memcpy(text, bytes, count);
    assert_true(folded_read(&folded, text, count));
}

static void forget(void)
{
    folded_free(&folded);
    free(text);
    text = NULL;
}

static void read_text(const char *lines)
{
    forget();
    read_bytes(lines, strlen(lines));
}

static void row_is(size_t row, const char *name, uint64_t self, uint64_t total)
{
    assert_true(row < folded.count);
    assert_string_equal(folded.rows[row].name, name);
    assert_int_equal(folded.rows[row].self, self);
    assert_int_equal(folded.rows[row].total, total);
}

FIXTURE(NULL, forget);

TEST(samples_are_summed_up_by_function)
{
    read_text("main;work;leaf 10\nmain;work 4\nmain;other;leaf 5\n[idle] 7\n");
    assert_int_equal(folded.samples, 26);
    assert_int_equal(folded.idle, 7);
    assert_int_equal(folded.count, 4);
    row_is(0, "leaf", 15, 15);
    row_is(1, "work", 4, 14);
    row_is(2, "main", 0, 19);
    row_is(3, "other", 0, 5);
}

TEST(a_recursive_function_counts_once)
{
    read_text("f;g;f;g;f 3\n");
    row_is(0, "f", 3, 3);
    row_is(1, "g", 0, 3);
}

TEST(names_may_have_blanks)
{
    read_text("main;f(int, char const*) 2");
    row_is(0, "f(int, char const*)", 2, 2);
}

TEST(equal_ones_are_in_the_order_of_names)
{
    read_text("b 1\na 1\nc 1\n");
    row_is(0, "a", 1, 1);
    row_is(1, "b", 1, 1);
    row_is(2, "c", 1, 1);
}

TEST(what_is_no_stack_is_counted_and_left_out)
{
    static const char *const bad[] = {
        "main",
        " 3",
        "main -1",
        "main 1x",
        "main 99999999999",
        "<html>not found</html>",
        "1",
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        read_text(bad[i]);
        assert_int_equal(folded.bad_lines, 1);
        assert_int_equal(folded.count, 0);
        assert_int_equal(folded.samples, 0);
    }
    forget();
    read_bytes("a\0b 1\nc 1\n", 10);
    assert_int_equal(folded.bad_lines, 1);
    row_is(0, "c", 1, 1);
}

TEST(nothing_is_no_profile)
{
    read_text("");
    assert_int_equal(folded.count, 0);
    read_text("\n\n");
    assert_int_equal(folded.bad_lines, 0);
    assert_int_equal(folded.samples, 0);
}

/* The rows are moved several times. */
TEST(many_functions_are_found_again)
{
    char *lines = malloc(100000), *at = lines;

    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 2000; i++)
            at += sprintf(at, "main;f%u 1\n", i);
    read_text(lines);
    free(lines);
    assert_int_equal(folded.count, 2001);
    assert_int_equal(folded.samples, 4000);
    for (size_t i = 0; i < 2000; i++)
        assert_int_equal(folded.rows[i].self, 2);
    row_is(2000, "main", 0, 4000);
}

TEST(a_stack_without_end_is_cut)
{
    char *line = malloc(4096), *at = line;

    for (unsigned i = 0; i < 1000; i++)
        at += sprintf(at, "f;");
    strcpy(at, "leaf 1");
    read_text(line);
    free(line);
    assert_int_equal(folded.count, 1);
    row_is(0, "f", 0, 1);
}
