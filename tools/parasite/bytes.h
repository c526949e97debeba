/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BYTES_H
#define BYTES_H

/* Little-endian numbers at any address; CRC-32C. */

#include <stddef.h>
#include <stdint.h>

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

/* CRC-32C of (count) bytes that follow those with the checksum (crc); 0 to
 * begin with. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t count);

#endif
