/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names may contain any bytes, but readers of UTF-8 must not get them. The zero
 * at the end is not a continuation byte, so nothing beyond it is read.
 */

#include "base/utf8.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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
