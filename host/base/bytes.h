/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

/* Bytes of files and packets: little-endian numbers, CRC-32C, base64. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Little-endian numbers at any address. */

static inline uint16_t le16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t le32(const uint8_t *at)
{
    return le16(at) | (uint32_t)le16(at + 2) << 16;
}

static inline uint64_t le64(const uint8_t *at)
{
    return le32(at) | (uint64_t)le32(at + 4) << 32;
}

/* Writes the lowest (bytes) of (number). */
static inline void put_le(uint8_t *to, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; ++i)
        to[i] = (uint8_t)(number >> 8 * i);
}

/* Writes (bytes) as hexadecimal digits and a zero. */
void bytes_hex(const uint8_t *bytes, size_t count, char *text);

/* CRC-32C of (count) bytes, continued from (crc), which begins as 0. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t count);

/* Decodes (chars) of base64 (RFC 4648, section 4) to (out), with 3 bytes of
 * room for each 4; false if the text is not base64. */
bool base64_decode(const char *text, size_t chars, uint8_t *out,
                   size_t *out_bytes);

#endif
