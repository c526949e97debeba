/* SPDX-License-Identifier: Apache-2.0 */

#include "base/bytes.h"

#include <stdio.h>

void bytes_hex(const uint8_t *bytes, size_t count, char *text)
{
    *text = '\0';
    for (size_t i = 0; i < count; ++i)
        sprintf(text + 2 * i, "%02x", bytes[i]);
}

/* CRC-32C, eight bytes at a time with eight tables (slicing), since it covers
 * every byte of a trace each time the trace is read. The tables are computed
 * before main(). */

#define POLYNOMIAL 0x82f63b78u /* reflected */
#define SLICES 8

static uint32_t tables[SLICES][256];

__attribute__((constructor)) static void make_tables(void)
{
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t word = byte;

        for (int bit = 0; bit < 8; ++bit)
            word = word >> 1 ^ (-(word & 1) & POLYNOMIAL);
        tables[0][byte] = word;
    }
    for (int slice = 1; slice < SLICES; ++slice) {
        for (uint32_t byte = 0; byte < 256; ++byte) {
            uint32_t word = tables[slice - 1][byte];

            tables[slice][byte] = word >> 8 ^ tables[0][word & 0xff];
        }
    }
}

static uint32_t fold(uint32_t word, int slice)
{
    return tables[slice + 3][word & 0xff] ^
           tables[slice + 2][word >> 8 & 0xff] ^
           tables[slice + 1][word >> 16 & 0xff] ^ tables[slice][word >> 24];
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;

    crc = ~crc;
    for (; count >= SLICES; count -= SLICES, at += SLICES)
        crc = fold(crc ^ le32(at), 4) ^ fold(le32(at + 4), 0);
    for (; count > 0; --count)
        crc = crc >> 8 ^ tables[0][(crc ^ *at++) & 0xff];
    return ~crc;
}

/* Base64 with padding, strict: white space and left-over bits are refused. */

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
