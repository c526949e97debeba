/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output buffer of the demanglers.
 *
 * Output is printed once from left to right. What does not fit is only counted,
 * so the buffer always holds a prefix of the whole. The comma between two
 * arguments is deferred: GNU prints it, and removes it if the next argument is
 * an empty pack, but still remembers the blank as the last byte printed. That
 * is why (commas) and (last) are separate.
 */

#include "demangle/buffer.h"

/* Bytes copied that count as one step. */
#define BYTES_PER_STEP 32u

void demangle_restart(struct demangle_buffer *o)
{
    o->length = 0;
    o->commas = 0;
    o->last = 0;
}

/* Appends (n) bytes, or as many as fit, and counts all of them. */
static void keep(struct demangle_buffer *o, const char *s, size_t n)
{
    size_t at = o->length;

    o->length = (uint32_t)(at + n);
    if (at + n <= o->room)
        demangle_copy(o->to + at, s, n);
    else if (at < o->room)
        __builtin_memcpy(o->to + at, s, o->room - at);
}

void demangle_flush(struct demangle_buffer *o)
{
    for (; o->commas > 0; o->commas--)
        keep(o, ", ", 2);
}

void demangle_stop(struct demangle_buffer *o)
{
    o->steps = 0;
    if (o->room > o->length)
        o->room = o->length;
}

void demangle_put_bytes(struct demangle_buffer *o, const char *s, size_t n)
{
    if (n == 0)
        return;
    if (o->commas > 0)
        demangle_flush(o);
    o->last = s[n - 1];
    if (n >= BYTES_PER_STEP)
        demangle_pay(o, (uint32_t)n / BYTES_PER_STEP);
    keep(o, s, n);
}

void demangle_put_char(struct demangle_buffer *o, char c)
{
    if (o->commas > 0)
        demangle_flush(o);
    if (o->length < o->room)
        o->to[o->length] = c;
    o->length++;
    o->last = c;
}

size_t demangle_length(const char *s)
{
    size_t n = 0;

    while (s[n] != 0)
        n++;
    return n;
}

void demangle_put_string(struct demangle_buffer *o, const char *s)
{
    demangle_put_bytes(o, s, demangle_length(s));
}

size_t demangle_decimal(char digits[DEMANGLE_DIGITS], uint32_t value)
{
    size_t at = DEMANGLE_DIGITS;

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return at;
}

void demangle_put_decimal(struct demangle_buffer *o, uint32_t value)
{
    char digits[DEMANGLE_DIGITS];
    size_t at = demangle_decimal(digits, value);

    demangle_put_bytes(o, digits + at, sizeof digits - at);
}

void demangle_put_utf8(struct demangle_buffer *o, uint32_t code)
{
    const uint32_t rest =
        (code >= 0x80) + (code >= 0x800) + (uint32_t)(code >= 0x10000);
    const uint32_t lead = rest == 0 ? 0 : -(0x80u >> rest);

    demangle_put_char(o, (char)(lead | code >> 6 * rest));
    for (uint32_t i = rest; i-- > 0;)
        demangle_put_char(o, (char)(0x80 | (code >> 6 * i & 0x3f)));
}

void demangle_comma(struct demangle_buffer *o)
{
    o->commas++;
    o->last = ' ';
}

void demangle_commas(struct demangle_buffer *o, uint16_t keep_count)
{
    if (o->commas > keep_count)
        o->commas = keep_count;
}

/* Bytes of the UTF-8 sequence that begins with (first), 0 for none. */
static DEMANGLE_SHARED size_t utf8_bytes(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* If the output was cut inside a UTF-8 sequence, drops its first bytes, too. */
size_t demangle_close(struct demangle_buffer *o)
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

/* The last condition rejects overlong forms, surrogates and code points above
 * 0x10ffff: RFC 3629, section 4. */
size_t prof_utf8_decode(const char *text, size_t n, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t want = n > 0 ? utf8_bytes(s[0]) : 0;

    if (want == 0 || want > n)
        return 0;
    *code = want == 1 ? s[0] : s[0] & (0x7fu >> want);
    for (size_t i = 1; i < want; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3f);
    }
    if ((want == 3 && *code < 0x800) || (want == 4 && *code < 0x10000) ||
        *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
        return 0;
    return want;
}

int demangle_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
