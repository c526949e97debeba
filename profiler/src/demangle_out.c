/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the demanglers write.
 *
 * An answer is printed once from left to right. What fits is kept, the rest is
 * only counted: so the kept part is always a prefix of the whole. The comma
 * between two arguments is a promise: GNU prints it, then takes it back when
 * the next argument turns out to be an empty pack, and what it remembers as
 * the last byte printed stays the blank. Both are kept apart here.
 */

#include "demangle_out.h"

/* Bytes copied that count as one step. */
#define BYTES_PER_STEP 32u

void prof_out_restart(struct prof_out *o)
{
    o->length = 0;
    o->commas = 0;
    o->last = 0;
}

static void keep(struct prof_out *o, const char *s, size_t n)
{
    size_t at = o->length;

    o->length = (uint32_t)(at + n);
    if (at + n <= o->room)
        prof_out_copy(o->to + at, s, n);
    else if (at < o->room)
        __builtin_memcpy(o->to + at, s, o->room - at);
}

void prof_out_flush(struct prof_out *o)
{
    for (; o->commas > 0; o->commas--)
        keep(o, ", ", 2);
}

void prof_out_stop(struct prof_out *o)
{
    o->steps = 0;
    if (o->room > o->length)
        o->room = o->length;
}

void prof_out_bytes(struct prof_out *o, const char *s, size_t n)
{
    if (n == 0)
        return;
    if (o->commas > 0)
        prof_out_flush(o);
    o->last = s[n - 1];
    if (n >= BYTES_PER_STEP)
        prof_out_pay(o, (uint32_t)n / BYTES_PER_STEP);
    keep(o, s, n);
}

void prof_out_char(struct prof_out *o, char c)
{
    if (o->commas > 0)
        prof_out_flush(o);
    if (o->length < o->room)
        o->to[o->length] = c;
    o->length++;
    o->last = c;
}

void prof_out_string(struct prof_out *o, const char *s)
{
    size_t n = 0;

    while (s[n] != 0)
        n++;
    if (n == 1)
        prof_out_char(o, s[0]);
    else
        prof_out_bytes(o, s, n);
}

void prof_out_decimal(struct prof_out *o, uint32_t value)
{
    char digits[10];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    prof_out_bytes(o, digits + at, sizeof digits - at);
}

void prof_out_utf8(struct prof_out *o, uint32_t code)
{
    if (code < 0x80) {
        prof_out_char(o, (char)code);
        return;
    }
    if (code < 0x800) {
        prof_out_char(o, (char)(0xc0 | code >> 6));
    } else {
        if (code < 0x10000) {
            prof_out_char(o, (char)(0xe0 | code >> 12));
        } else {
            prof_out_char(o, (char)(0xf0 | code >> 18));
            prof_out_char(o, (char)(0x80 | (code >> 12 & 0x3f)));
        }
        prof_out_char(o, (char)(0x80 | (code >> 6 & 0x3f)));
    }
    prof_out_char(o, (char)(0x80 | (code & 0x3f)));
}

void prof_out_comma(struct prof_out *o)
{
    o->commas++;
    o->last = ' ';
}

void prof_out_commas(struct prof_out *o, uint16_t keep_count)
{
    if (o->commas > keep_count)
        o->commas = keep_count;
}

/* Bytes of the UTF-8 sequence that begins with (first), 0 for none. */
static size_t utf8_bytes(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

size_t prof_out_close(struct prof_out *o)
{
    size_t n = o->length;

    if (n > o->room) {
        size_t start = n = o->room;

        while (start > 0 && n - start < 3 &&
               ((unsigned char)o->to[start - 1] & 0xc0) == 0x80)
            start--;
        if (start > 0) {
            size_t want = utf8_bytes((unsigned char)o->to[start - 1]);

            if (want > 1 && n - (start - 1) < want)
                n = start - 1;
        }
    }
    o->to[n] = 0;
    return n;
}

bool prof_utf8_valid(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t at = 0;

    while (at < n) {
        size_t want = utf8_bytes(s[at]);

        if (want == 0 || want > n - at)
            return false;
        for (size_t i = 1; i < want; i++)
            if ((s[at + i] & 0xc0) != 0x80)
                return false;
        if ((s[at] == 0xe0 && s[at + 1] < 0xa0) ||
            (s[at] == 0xed && s[at + 1] > 0x9f) ||
            (s[at] == 0xf0 && s[at + 1] < 0x90) ||
            (s[at] == 0xf4 && s[at + 1] > 0x8f))
            return false;
        at += want;
    }
    return true;
}
