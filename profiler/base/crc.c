/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C, four bytes at a time through four tables of 256 words ("slicing").
 *
 * The tables are made by the compiler: no start-up code that could be
 * forgotten. Without its initial value a checksum is linear, so the word for a
 * byte is the exclusive-or of the words for its set bits. WORDS_n lists these
 * for bits 0 to 7 of a byte that (n) zero bytes follow. Bit 7 of WORDS_0 is the
 * polynomial itself.
 */

#include "base/crc.h"

/* clang-format off */
#define WORDS_0 \
    0xf26b8303u, 0xe13b70f7u, 0xc79a971fu, 0x8ad958cfu, \
    0x105ec76fu, 0x20bd8edeu, 0x417b1dbcu, 0x82f63b78u
#define WORDS_1 \
    0x13a29877u, 0x274530eeu, 0x4e8a61dcu, 0x9d14c3b8u, \
    0x3fc5f181u, 0x7f8be302u, 0xff17c604u, 0xfbc3faf9u
#define WORDS_2 \
    0xa541927eu, 0x4f6f520du, 0x9edea41au, 0x38513ec5u, \
    0x70a27d8au, 0xe144fb14u, 0xc76580d9u, 0x8b277743u
#define WORDS_3 \
    0xdd45aab8u, 0xbf672381u, 0x7b2231f3u, 0xf64463e6u, \
    0xe964b13du, 0xd725148bu, 0xaba65fe7u, 0x52a0c93fu

#define BIT(byte, bit, word) ((((byte) >> (bit)) & 1u) * (word))
#define SUM(byte, w0, w1, w2, w3, w4, w5, w6, w7)         \
    (BIT(byte, 0, w0) ^ BIT(byte, 1, w1) ^                \
     BIT(byte, 2, w2) ^ BIT(byte, 3, w3) ^                \
     BIT(byte, 4, w4) ^ BIT(byte, 5, w5) ^                \
     BIT(byte, 6, w6) ^ BIT(byte, 7, w7))
#define W1(byte, ...) SUM(byte, __VA_ARGS__)
#define W4(byte, ...) \
    W1(byte, __VA_ARGS__), W1((byte) + 1u, __VA_ARGS__), \
    W1((byte) + 2u, __VA_ARGS__), W1((byte) + 3u, __VA_ARGS__)
#define W16(byte, ...) \
    W4(byte, __VA_ARGS__), W4((byte) + 4u, __VA_ARGS__), \
    W4((byte) + 8u, __VA_ARGS__), W4((byte) + 12u, __VA_ARGS__)
#define W64(byte, ...) \
    W16(byte, __VA_ARGS__), W16((byte) + 16u, __VA_ARGS__), \
    W16((byte) + 32u, __VA_ARGS__), W16((byte) + 48u, __VA_ARGS__)
#define W256(...) \
    W64(0u, __VA_ARGS__), W64(64u, __VA_ARGS__), \
    W64(128u, __VA_ARGS__), W64(192u, __VA_ARGS__)

static const uint32_t word_of[4][256] = {
    {W256(WORDS_0)}, {W256(WORDS_1)}, {W256(WORDS_2)}, {W256(WORDS_3)},
};
/* clang-format on */

static inline uint32_t add_four(uint32_t crc, const uint8_t *next)
{
    uint32_t four;

    __builtin_memcpy(&four, next, sizeof four);
    crc ^= four;
    return word_of[3][crc & 0xff] ^ word_of[2][crc >> 8 & 0xff] ^
           word_of[1][crc >> 16 & 0xff] ^ word_of[0][crc >> 24];
}

/* Sixteen bytes a round, for a round costs as much as some bytes. */
uint32_t prof_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    const uint8_t *next = data;

    crc = ~crc;
    for (; bytes >= 16; bytes -= 16, next += 16) {
        crc = add_four(add_four(crc, next), next + 4);
        crc = add_four(add_four(crc, next + 8), next + 12);
    }
    while (bytes-- > 0)
        crc = crc >> 8 ^ word_of[0][(uint8_t)crc ^ *next++];
    return ~crc;
}
