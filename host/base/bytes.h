/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

/* Little-endian numbers at any address. */

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

#endif
