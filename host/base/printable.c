/* SPDX-License-Identifier: Apache-2.0 */
/* Text without anything that controls a terminal. */

#include "base/printable.h"

#include "base/utf8.h"

#include <stdbool.h>
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
