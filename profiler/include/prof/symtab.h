/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SYMTAB_H
#define PROF_SYMTAB_H

/*
 * The layout of the symbol table that an image carries, written by the host
 * (tools/embed) and read by the guest (profiler/src/symbols.c).
 *
 *     +--------------------+  table, aligned to 8 bytes
 *     | struct prof_symtab |
 *     +--------------------+  + offsets_at
 *     | uint32_t offset[n] |  function starts minus base, strictly rising
 *     +--------------------+  + sizes_at
 *     | uint32_t size[n]   |  bytes; 0 = unknown, reaches to the next one
 *     +--------------------+  + names_at
 *     | uint32_t name[n]   |  byte offset of the name in the strings
 *     +--------------------+  + strings_at
 *     | char strings[]     |  names, each ended by a NUL
 *     +--------------------+  + total_bytes
 *
 * The last function has no next one: with a size of 0 it is one byte long.
 * All numbers are little-endian. All (..._at) are byte offsets from the start
 * of the table and multiples of four. The checksum is CRC-32C (Castagnoli, RFC
 * 3720 appendix B.4: reflected polynomial 0x82f63b78, initial value and final
 * exclusive-or all ones) over total_bytes bytes with the crc field taken as 0.
 */

#include <stdint.h>

#define PROF_SYMTAB_MAGIC 0x4d595350u /* "PSYM" */
#define PROF_SYMTAB_VERSION 1u
#define PROF_BUILD_ID_MAX 32u

struct prof_symtab {
    uint32_t magic;          /* PROF_SYMTAB_MAGIC */
    uint32_t version;        /* PROF_SYMTAB_VERSION */
    uint32_t total_bytes;    /* header, arrays and strings */
    uint32_t crc;            /* CRC-32C of it all, this field taken as 0 */
    uint64_t base;           /* address that the offsets count from */
    uint32_t count;          /* functions, n in the picture */
    uint32_t offsets_at;     /* byte offset of offset[] */
    uint32_t sizes_at;       /* byte offset of size[] */
    uint32_t names_at;       /* byte offset of name[] */
    uint32_t strings_at;     /* byte offset of strings[] */
    uint32_t strings_bytes;  /* bytes in strings[] */
    uint32_t pointer_bits;   /* 32 or 64 */
    uint32_t build_id_bytes; /* 0 to PROF_BUILD_ID_MAX */
    uint8_t build_id[PROF_BUILD_ID_MAX]; /* of the image it belongs to */
};

#endif
