/* SPDX-License-Identifier: Apache-2.0 */
/* The text writer: nothing is lost at a buffer's edge, numbers are right. */

#include "../unit.h"

#include <prof/text.h>

/* What the sink was given since the last begin(). */
static struct {
    char text[4 * PROF_TEXT_BYTES + 1];
    size_t bytes;
    unsigned calls;
} seen;

static void sink(const char *text, size_t bytes)
{
    assert_in_range(bytes, 1, PROF_TEXT_BYTES);
    assert_true(seen.bytes + bytes < sizeof seen.text);
    memcpy(seen.text + seen.bytes, text, bytes);
    seen.bytes += bytes;
    ++seen.calls;
}

/* On the heap, so that AddressSanitizer sees what goes beyond it. */
static struct prof_text *begin(void)
{
    struct prof_text *out = malloc(sizeof *out);

    memset(out, 0x55, sizeof *out);
    memset(&seen, 0, sizeof seen);
    prof_text_open(out, sink);
    return out;
}

static void expect_text(struct prof_text *out, const char *text)
{
    prof_text_flush(out);
    assert_string_equal(seen.text, text);
    free(out);
}

TEST(writing_nothing_sends_nothing)
{
    struct prof_text *out = begin();

    prof_text_flush(out);
    prof_text_string(out, "");
    prof_text_column(out, 0);
    prof_text_flush(out);
    assert_int_equal(seen.calls, 0);
    free(out);
}

TEST(text_of_any_length_arrives_whole)
{
    char text[3 * PROF_TEXT_BYTES + 2];

    for (size_t length = 0; length < sizeof text; ++length) {
        struct prof_text *out = begin();

        for (size_t i = 0; i < length; ++i)
            text[i] = (char)('a' + i % 26);
        text[length] = '\0';
        prof_text_string(out, text);
        assert_int_equal(out->column, length);
        prof_text_flush(out);
        assert_int_equal(seen.calls,
                         (length + PROF_TEXT_BYTES - 1) / PROF_TEXT_BYTES);
        expect_text(out, text);
    }
}

TEST(numbers_cross_a_full_buffer_unharmed)
{
    for (unsigned before = 0; before <= 2 * PROF_TEXT_BYTES; ++before) {
        char wanted[sizeof seen.text];
        struct prof_text *out = begin();

        snprintf(wanted, sizeof wanted, "%*s1234567890123|  42|0x00beef\n|",
                 (int)before, "");
        prof_text_column(out, before);
        prof_text_decimal(out, 1234567890123u, 0);
        prof_text_char(out, '|');
        prof_text_decimal(out, 42, 4);
        prof_text_char(out, '|');
        prof_text_hex(out, 0xbeef, 6);
        prof_text_string(out, "\n|");
        assert_int_equal(out->column, 1);
        expect_text(out, wanted);
    }
}

TEST(a_full_buffer_is_handed_on_at_once)
{
    struct prof_text *out = begin();

    prof_text_column(out, PROF_TEXT_BYTES - 1);
    assert_int_equal(seen.calls, 0);
    prof_text_char(out, 'x');
    assert_int_equal(seen.calls, 1);
    prof_text_flush(out);
    assert_int_equal(seen.calls, 1);
    free(out);
}

/* Also by a flush; and where it is passed nothing is added. */
TEST(columns_are_kept)
{
    struct prof_text *out = begin();

    prof_text_string(out, "abc");
    prof_text_flush(out);
    prof_text_column(out, 6);
    prof_text_string(out, "def");
    prof_text_column(out, 9);
    prof_text_column(out, 3);
    prof_text_char(out, '\n');
    prof_text_column(out, 2);
    prof_text_char(out, 'x');
    expect_text(out, "abc   def\n  x");
}

static void expect_decimal(uint64_t value, unsigned width)
{
    char wanted[128];
    struct prof_text *out = begin();

    snprintf(wanted, sizeof wanted, "%*llu", (int)width,
             (unsigned long long)value);
    prof_text_decimal(out, value, width);
    assert_int_equal(out->column, strlen(wanted));
    expect_text(out, wanted);
}

/* At every power of ten, at every bit, and at any number. */
TEST(decimals_are_right_on_the_right_of_their_width)
{
    uint64_t power = 1;

    for (unsigned digits = 1; digits <= 20; ++digits) {
        for (unsigned i = 0; i < 3; ++i)
            expect_decimal(power - 1 + i, 0);
        power *= digits < 20 ? 10 : 1;
    }
    for (unsigned bit = 0; bit < 64; ++bit)
        for (unsigned i = 0; i < 2; ++i)
            expect_decimal(((uint64_t)1 << bit) - i, 0);
    for (unsigned i = 0; i < 20000; ++i)
        expect_decimal(unit_number(), i % 40);
    for (unsigned width = 0; width < 40; ++width) {
        expect_decimal(0, width);
        expect_decimal(UINT64_MAX, width);
    }
}

static void expect_hex(uint64_t value, unsigned digits)
{
    char wanted[128];
    struct prof_text *out = begin();

    snprintf(wanted, sizeof wanted, "0x%0*llx", (int)digits,
             (unsigned long long)value);
    prof_text_hex(out, value, digits);
    expect_text(out, wanted);
}

TEST(hexadecimals_have_at_least_their_digits)
{
    for (unsigned digits = 0; digits < 24; ++digits) {
        expect_hex(0, digits);
        expect_hex(0xf, digits);
        expect_hex(0x10, digits);
        expect_hex(0xdeadbeef, digits);
        expect_hex(0x0123456789abcdefu, digits);
        expect_hex(UINT64_MAX, digits);
    }
}
