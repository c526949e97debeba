/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CRC_H
#define PROF_CRC_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the CRC-32C (Castagnoli; RFC 3720, appendix B.4) of (bytes) bytes at
 * (data). (crc) is 0 for the first piece of data, or the result for the pieces
 * before.
 *
 * Contexts: any; re-entrant; no allocation. Linear in (bytes).
 */
uint32_t prof_crc32c(uint32_t crc, const void *data, size_t bytes);

#endif
