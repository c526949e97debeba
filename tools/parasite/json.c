/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of JSON. */

#include "json.h"

#include <stdint.h>

/* How many bytes the character at (at) has, 0 if it is no UTF-8. Behind the
 * first byte, what ends a string is no continuation, so nothing is read beyond
 * its end. */
static int character_bytes(const uint8_t *at)
{
    uint32_t code;
    int bytes;

    if (at[0] < 0x80)
        return 1;
    bytes = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4)
        return 0;
    code = at[0] & (0x7fu >> bytes);
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

void json_text(FILE *out, const char *text)
{
    const uint8_t *at = (const uint8_t *)text;

    putc('"', out);
    while (*at != '\0') {
        int bytes = character_bytes(at);

        if (bytes == 0)
            fputs("\\ufffd", out);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(out, "\\u%04x", *at);
        else if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else
            fwrite(at, 1, (size_t)bytes, out);
        at += bytes > 0 ? bytes : 1;
    }
    putc('"', out);
}
