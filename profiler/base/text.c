/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of every line that the profiler prints.
 *
 * The buffer exists because a serial console is asked once per call: a report
 * of single characters would be a thousand calls. It is handed on as soon as it
 * is full, so there is always room for one more byte.
 *
 * Numbers are taken apart without the compiler's library: a 64-bit division
 * would be a call to __udivdi3 on i386, where no library may be under us.
 */

#include "base/cpu.h"

#include <prof/text.h>
#include <stdarg.h>

/* Digits of the largest uint64_t: 18,446,744,073,709,551,615. */
#define DECIMAL_DIGITS 20u
/* Four bits each. */
#define HEX_DIGITS 16u

void prof_text_open(struct prof_text *out, prof_text_sink *sink)
{
    out->sink = sink;
    out->used = 0;
    out->column = 0;
}

void prof_text_flush(struct prof_text *out)
{
    size_t bytes = out->used;

    if (bytes == 0)
        return;
    out->used = 0;
    out->sink(out->buffer, bytes);
}

void prof_text_char(struct prof_text *out, char c)
{
    out->buffer[out->used++] = c;
    out->column = c == '\n' ? 0 : out->column + 1;
    if (out->used == PROF_TEXT_BYTES)
        prof_text_flush(out);
}

/* Writes (s) up to (stop), and returns where that is. Most of a report are
 * strings: what can be printed is copied at once. */
static inline __attribute__((always_inline)) const char *
put_until(struct prof_text *out, const char *s, char stop)
{
    char *end = out->buffer + PROF_TEXT_BYTES - 1;

    while (*s != '\0' && *s != stop) {
        char *from = out->buffer + out->used, *to = from;

        while ((unsigned char)*s > '\n' && *s != stop && to < end)
            *to++ = *s++;
        out->used += (size_t)(to - from);
        out->column += (size_t)(to - from);
        if (*s != '\0' && *s != stop)
            prof_text_char(out, *s++);
    }
    return s;
}

void prof_text_string(struct prof_text *out, const char *s)
{
    put_until(out, s, '\0');
}

/* Divides (*value) by (by) and returns the remainder. */
static uint32_t divide(uint64_t *value, uint32_t by)
{
    uint64_t quotient = prof_divide(*value, by);
    uint32_t rest = (uint32_t)*value - (uint32_t)quotient * by;

    *value = quotient;
    return rest;
}

/* Padding is put before the digits, and all is copied at once. */
void prof_text_decimal(struct prof_text *out, uint64_t value, unsigned width)
{
    char digits[DECIMAL_DIGITS + 1];
    char *first = digits + DECIMAL_DIGITS;
    uintptr_t low;

    for (; width > DECIMAL_DIGITS; width--)
        prof_text_char(out, ' ');
    *first = '\0';
    while (value > UINTPTR_MAX)
        *--first = (char)('0' + divide(&value, 10));
    low = (uintptr_t)value; /* most numbers are a word */
    do {
        *--first = (char)('0' + low % 10);
        low /= 10;
    } while (low != 0);
    while (first > digits + DECIMAL_DIGITS - width)
        *--first = ' ';
    prof_text_string(out, first);
}

void prof_text_fixed(struct prof_text *out, uint64_t value, unsigned width,
                     uint32_t unit)
{
    uint32_t rest = divide(&value, unit);

    prof_text_decimal(out, value, width);
    if (unit > 1)
        prof_text_char(out, '.');
    while ((unit /= 10) > 0) {
        prof_text_char(out, (char)('0' + rest / unit));
        rest %= unit;
    }
}

void prof_text_format(struct prof_text *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    while (*(format = put_until(out, format, '%')) != '\0') {
        unsigned width = 0;
        uint32_t unit = 1;

        while (*++format >= '0' && *format <= '9')
            width = width * 10 + (unsigned)(*format - '0');
        if (*format == '.') {
            for (char decimals = format[1]; decimals > '0'; decimals--)
                unit *= 10;
            format += 2;
        }
        switch (*format++) {
        case 's':
            prof_text_string(out, va_arg(arguments, const char *));
            break;
        case 'u':
            prof_text_fixed(out, va_arg(arguments, unsigned), width, unit);
            break;
        case 'j': /* of "ju" */
            format++;
            prof_text_fixed(out, va_arg(arguments, uint64_t), width, unit);
            break;
        default:
            prof_text_char(out, '%');
        }
    }
    va_end(arguments);
}

void prof_text_hex(struct prof_text *out, uint64_t value, unsigned digits)
{
    char text[HEX_DIGITS + 1];
    char *first = text + HEX_DIGITS;

    *first = '\0';
    do {
        *--first = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value != 0);
    prof_text_string(out, "0x");
    for (; digits > (unsigned)(text + HEX_DIGITS - first); --digits)
        prof_text_char(out, '0');
    prof_text_string(out, first);
}

void prof_text_column(struct prof_text *out, size_t column)
{
    while (out->column < column)
        prof_text_char(out, ' ');
}
