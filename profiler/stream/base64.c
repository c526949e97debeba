/* SPDX-License-Identifier: Apache-2.0 */

/* Six bits a character, from the top; '=' where there was no byte. */

#include "stream/base64.h"

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void prof_base64(const uint8_t *bytes, size_t count, char text[4])
{
    uint32_t word = (uint32_t)bytes[0] << 16;

    if (count > 1)
        word |= (uint32_t)bytes[1] << 8;
    if (count > 2)
        word |= bytes[2];
    text[0] = digits[word >> 18];
    text[1] = digits[word >> 12 & 63];
    text[2] = count > 1 ? digits[word >> 6 & 63] : '=';
    text[3] = count > 2 ? digits[word & 63] : '=';
}
