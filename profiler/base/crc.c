/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C, one byte at a time through a table of 256 words.
 *
 * The table is 1 KiB and made by the compiler: no start-up code that could be
 * forgotten. Without its initial value a checksum is linear, so the word for a
 * byte is the exclusive-or of the words for its set bits. Those eight are one
 * division step apart, from bit 7 (the polynomial itself) down to bit 0.
 */

#include "base/crc.h"

/* clang-format off */
#define BIT(byte, bit, word) ((((byte) >> (bit)) & 1u) * (word))
#define W1(byte)                                                      \
    (BIT(byte, 7, 0x82f63b78u) ^ BIT(byte, 6, 0x417b1dbcu) ^          \
     BIT(byte, 5, 0x20bd8edeu) ^ BIT(byte, 4, 0x105ec76fu) ^          \
     BIT(byte, 3, 0x8ad958cfu) ^ BIT(byte, 2, 0xc79a971fu) ^          \
     BIT(byte, 1, 0xe13b70f7u) ^ BIT(byte, 0, 0xf26b8303u))
#define W4(byte)  W1(byte), W1((byte) + 1u), W1((byte) + 2u), W1((byte) + 3u)
#define W16(byte) W4(byte), W4((byte) + 4u), W4((byte) + 8u), W4((byte) + 12u)
#define W64(byte) \
    W16(byte), W16((byte) + 16u), W16((byte) + 32u), W16((byte) + 48u)

static const uint32_t word_of[256] = {W64(0u), W64(64u), W64(128u), W64(192u)};
/* clang-format on */

static inline uint32_t add(uint32_t crc, uint8_t byte)
{
    return crc >> 8 ^ word_of[(uint8_t)crc ^ byte];
}

/* Eight bytes a round, for a byte has few instructions of its own. */
uint32_t prof_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    const uint8_t *next = data;

    crc = ~crc;
    for (; bytes >= 8; bytes -= 8, next += 8) {
        crc = add(add(crc, next[0]), next[1]);
        crc = add(add(crc, next[2]), next[3]);
        crc = add(add(crc, next[4]), next[5]);
        crc = add(add(crc, next[6]), next[7]);
    }
    while (bytes-- > 0)
        crc = add(crc, *next++);
    return ~crc;
}
