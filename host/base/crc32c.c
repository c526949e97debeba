/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C, eight bytes at a time with eight tables (slicing), since it covers
 * every byte of a trace each time the trace is read. The tables are computed
 * before main().
 */

#include "base/crc32c.h"

#include "base/bytes.h"

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
