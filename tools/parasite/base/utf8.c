/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names may contain any bytes, but readers of UTF-8 must not get them. The zero
 * at the end is not a continuation byte, so nothing beyond it is read.
 */

#include "base/utf8.h"

#include <stdint.h>

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
