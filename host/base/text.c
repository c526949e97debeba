/* SPDX-License-Identifier: Apache-2.0 */
/* Text for terminals and for readers of UTF-8 and XML, and numbers. */

#define _GNU_SOURCE /* vasprintf() */

#include "base/text.h"

#include "base/log.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The last two bytes of a character U+2000 to U+2FFF: line and paragraph
 * separators, and marks, embeddings, overrides and isolates of direction. */
static bool is_order(unsigned char middle, unsigned char last)
{
    return (middle == 0x80 &&
            (last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae))) ||
           (middle == 0x81 && last >= 0xa6 && last <= 0xa9);
}

int printable_bytes(const char *text)
{
    int bytes = utf8_bytes(text);
    unsigned char first = (unsigned char)text[0];
    unsigned char second = bytes > 1 ? (unsigned char)text[1] : 0;

    if (first < 0x20 || first == 0x7f)
        return 0;
    if (first == 0xc2 && second < 0xa0) /* C1: U+0080 to U+009F */
        return 0;
    if (first == 0xe2 && bytes == 3 && is_order(second, (unsigned char)text[2]))
        return 0;
    return bytes;
}

static void escape_byte(unsigned char byte, char *to)
{
    static const char digits[] = "0123456789abcdef";

    to[0] = '\\';
    to[1] = 'x';
    to[2] = digits[byte >> 4];
    to[3] = digits[byte & 15];
}

void printable_put(FILE *out, const char *text)
{
    const char *plain = text; /* not written yet */

    while (*text != '\0') {
        int bytes = printable_bytes(text);
        char escaped[PRINTABLE_ESCAPE];

        if (bytes > 0) {
            text += bytes;
            continue;
        }
        fwrite(plain, 1, (size_t)(text - plain), out);
        escape_byte((unsigned char)*text++, escaped);
        fwrite(escaped, 1, sizeof escaped, out);
        plain = text;
    }
    fwrite(plain, 1, (size_t)(text - plain), out);
}

char *printable(const char *text, char *to, size_t room)
{
    size_t used = 0;

    while (*text != '\0') {
        int bytes = printable_bytes(text);
        size_t count = bytes > 0 ? (size_t)bytes : PRINTABLE_ESCAPE;

        if (used + count + 1 > room)
            break;
        if (bytes > 0)
            memcpy(to + used, text, count);
        else
            escape_byte((unsigned char)*text, to + used);
        used += count;
        text += bytes > 0 ? bytes : 1;
    }
    to[used] = '\0';
    return to;
}

/* Names may contain any bytes, but readers of UTF-8 must not get them. The zero
 * at the end is not a continuation byte, so nothing beyond it is read. */

int utf8_bytes(const char *text)
{
    const uint8_t *at = (const uint8_t *)text;
    int bytes = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    uint32_t code = at[0] & (0x7fu >> bytes);

    if (at[0] < 0x80)
        return 1;
    if (at[0] < 0xc2 || at[0] > 0xf4)
        return 0;
    for (int i = 1; i < bytes; ++i) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    if ((bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000) ||
        (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
        return 0;
    return bytes;
}

static bool is_utf8(const char *text)
{
    for (int bytes; *text != '\0'; text += bytes)
        if ((bytes = utf8_bytes(text)) == 0)
            return false;
    return true;
}

char *utf8_mended(const char *text)
{
    static const char unknown[] = "\xef\xbf\xbd";
    char *mended, *end;

    if (is_utf8(text))
        return NULL;
    mended = end = xreallocarray(NULL, strlen(text) + 1, sizeof unknown);
    while (*text != '\0') {
        size_t bytes = (size_t)utf8_bytes(text);
        const char *from = bytes > 0 ? text : unknown;
        size_t count = bytes > 0 ? bytes : sizeof unknown - 1;

        memcpy(end, from, count);
        end += count;
        text += bytes > 0 ? bytes : 1;
    }
    *end = '\0';
    return mended;
}

/* How many bytes of (text) form one character that XML allows, 0 = none: no
 * control characters, U+FFFE or U+FFFF. */
static size_t character_bytes(const char *text)
{
    int bytes = utf8_bytes(text);
    unsigned char first = (unsigned char)*text;

    if (first < 0x20 || first == 0x7f ||
        (bytes == 3 && memcmp(text, "\xef\xbf\xbd", 3) > 0 && first == 0xef))
        return 0;
    return (size_t)bytes;
}

static void put_character(FILE *out, const char *text, size_t bytes)
{
    if (bytes == 0)
        fputs("\xef\xbf\xbd", out);
    else if (*text == '<')
        fputs("&lt;", out);
    else if (*text == '>')
        fputs("&gt;", out);
    else if (*text == '&')
        fputs("&amp;", out);
    else if (*text == '"')
        fputs("&quot;", out);
    else
        fwrite(text, 1, bytes, out);
}

void xml_put(FILE *out, const char *text, size_t room)
{
    const char *at = text, *end = at;
    size_t count = 0;

    for (; *end != '\0' && count <= room; ++count) {
        size_t bytes = character_bytes(end);

        end += bytes > 0 ? bytes : 1;
    }
    if (count > room && room > 0)
        --room;
    for (size_t i = 0; *at != '\0' && i < room; ++i) {
        size_t bytes = character_bytes(at);

        put_character(out, at, bytes);
        at += bytes > 0 ? bytes : 1;
    }
    if (*at != '\0')
        fputs("\xe2\x80\xa6", out);
}

const char *number_count(uint64_t number, char *text)
{
    char digits[NUMBER_TEXT_MAX];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *to = text;

    for (int i = 0; i < count; ++i) {
        if (i > 0 && (count - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *number_hz(uint64_t mhz, char *text)
{
    char whole[NUMBER_TEXT_MAX];
    uint64_t hundredths = (mhz + 5) / 10;

    snprintf(text, NUMBER_TEXT_MAX, "%s.%02u Hz",
             number_count(hundredths / 100, whole),
             (unsigned)(hundredths % 100));
    return text;
}

const char *number_bytes(uint64_t bytes, char *text)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double amount = (double)bytes;
    size_t unit = 0;

    for (; amount >= 999.95 && unit < 4; ++unit)
        amount /= 1000;
    snprintf(text, NUMBER_TEXT_MAX, "%.*f %s", unit > 0, amount, units[unit]);
    return text;
}

char *text_format(const char *format, ...)
{
    char *text;
    va_list words;

    va_start(words, format);
    if (vasprintf(&text, format, words) < 0)
        die("out of memory");
    va_end(words);
    return text;
}
