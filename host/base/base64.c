/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 with padding, strict: white space and left-over bits are refused. */

#include "base/base64.h"

static int value_of(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return letter - 'A';
    if (letter >= 'a' && letter <= 'z')
        return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9')
        return letter - '0' + 52;
    return letter == '+' ? 62 : letter == '/' ? 63 : -1;
}

bool base64_decode(const char *text, size_t chars, uint8_t *out,
                   size_t *out_bytes)
{
    size_t padding = 0, count = 0;
    uint32_t word = 0;

    if (chars == 0 || chars % 4 != 0)
        return false;
    while (padding < 2 && text[chars - 1 - padding] == '=')
        ++padding;
    for (size_t i = 0; i < chars - padding; ++i) {
        int value = value_of(text[i]);

        if (value < 0)
            return false;
        word = word << 6 | (uint32_t)value;
        if (i % 4 != 0)
            out[count++] = (uint8_t)(word >> (6 - 2 * (i % 4)));
    }
    *out_bytes = count;
    return padding == 0 || (word & (padding == 1 ? 3u : 15u)) == 0;
}
