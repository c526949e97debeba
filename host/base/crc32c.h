/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C of (count) bytes, continued from (crc), the checksum of the bytes
 * before them; 0 at the beginning. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t count);

#endif
