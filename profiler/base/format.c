/* SPDX-License-Identifier: Apache-2.0 */
#include "base/format.h"

#include <stdarg.h>

/* The number in (*text), which is moved after it. */
static unsigned read_digits(const char **text)
{
    unsigned number = 0;

    for (; **text >= '0' && **text <= '9'; ++*text)
        number = number * 10 + (unsigned)(**text - '0');
    return number;
}

static void put_number(struct prof_text *out, uint64_t value, unsigned width,
                       unsigned decimals)
{
    uint32_t unit = 1;

    for (; decimals != 0; decimals--)
        unit *= 10;
    if (unit == 1)
        prof_text_decimal(out, value, width);
    else
        prof_text_fixed(out, value, width, unit);
}

void prof_text_format(struct prof_text *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    for (; *format != '\0'; format++) {
        unsigned width, decimals = 0;

        if (*format != '%') {
            prof_text_char(out, *format);
            continue;
        }
        format++;
        width = read_digits(&format);
        if (*format == '.') {
            format++;
            decimals = read_digits(&format);
        }
        switch (*format) {
        case 's':
            prof_text_string(out, va_arg(arguments, const char *));
            break;
        case 'u':
            put_number(out, va_arg(arguments, unsigned), width, decimals);
            break;
        case 'j': /* of "ju" */
            format++;
            put_number(out, va_arg(arguments, uint64_t), width, decimals);
            break;
        default:
            prof_text_char(out, *format);
        }
    }
    va_end(arguments);
}
