/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SYMTAB_H
#define PROF_SYMTAB_H

/*
 * Layout of the symbol table in an image, which the host writes (host/embed)
 * and the guest reads (profiler/symbols/lookup.c).
 *
 *     +----------------------+  table, aligned to 8 bytes
 *     | struct prof_symtab   |
 *     +----------------------+  + offsets_at
 *     | uint32_t offset[n+1] |  starts minus base, strictly rising; offset[n]
 *     +----------------------+  is the end of entry n-1         + gaps_at
 *     | uint8_t gap[n]       |  bytes between its end and the next start
 *     +----------------------+  + parts_at
 *     | uint32_t part[]      |  parts_count of them: the index, see below
 *     +----------------------+  + firsts_at
 *     | uint32_t first[]     |  firsts_count of them
 *     +----------------------+  + marks_at
 *     | uint32_t mark[n/16]  |  rounded up: offset in the names of each 16th
 *     +----------------------+  + tokens_at
 *     | tokens               |  expansions of the codes, or nothing
 *     +----------------------+  + names_at
 *     | names                |  in the order of the entries
 *     +----------------------+  + total_bytes, a multiple of eight
 *
 * An entry is a function. Its size is offset[i+1] - offset[i] - gap[i], at
 * least 1. A gap of PROF_SYMTAB_HOLE or more bytes after a function is an entry
 * of its own, with gap[i] PROF_SYMTAB_HOLE and an empty name. Addresses in it
 * belong to no function.
 *
 * The index gives the entry at which a search begins. The offsets up to
 * offset[n] are divided into parts of 1 << parts_shift bytes, and part p into
 * pieces of 1 << (part[p] & 31) bytes. Each piece has an element of first[];
 * the elements of part p begin at first[part[p] >> 5], after those of part p-1.
 * For any address in a piece, the last entry that starts at or below it is
 * among the (window) entries from the piece's first[] on, or, if fewer follow,
 * among the last (window) entries of the table.
 *
 * A name is stored as a byte s, a length m and m codes. It consists of the
 * first s bytes of the previous name (s is 0 for each 16th name) and the
 * expansion of the codes. m takes one byte if it is below 128, else two:
 * 128 + m / 256 and m % 256. A whole name has at most PROF_SYMTAB_NAME_MAX
 * bytes, none of which is NUL.
 *
 * If tokens_bytes is 0, a code stands for itself. Otherwise the tokens are
 * uint16_t begin[257], followed by texts: code c expands to texts[begin[c]] up
 * to texts[begin[c+1]], exclusive; begin[256] is the length of texts. No name
 * contains a code that expands to nothing.
 *
 * All numbers are little-endian. All (..._at) are byte offsets from the start
 * of the table, and multiples of four. The checksum is CRC-32C (Castagnoli; RFC
 * 3720 appendix B.4: reflected polynomial 0x82f63b78, initial value and final
 * exclusive-or all ones) of total_bytes bytes, with the crc field taken as 0.
 */

#include <stdint.h>

#define PROF_SYMTAB_MAGIC 0x4d595350u /* "PSYM" */
#define PROF_SYMTAB_VERSION 3u
#define PROF_SYMTAB_HOLE 255u
#define PROF_SYMTAB_BLOCK 16u /* names from one mark to the next */
#define PROF_SYMTAB_NAME_MAX 32767u
#define PROF_SYMTAB_CODES 256u
#define PROF_BUILD_ID_MAX 32u

struct prof_symtab {
    uint32_t magic;        /* PROF_SYMTAB_MAGIC */
    uint32_t version;      /* PROF_SYMTAB_VERSION */
    uint32_t total_bytes;  /* of the whole table, with this header */
    uint32_t crc;          /* CRC-32C of the table, this field taken as 0 */
    uint64_t base;         /* address that offset[] counts from */
    uint32_t count;        /* number of entries, n above */
    uint32_t offsets_at;   /* byte offset of offset[] */
    uint32_t gaps_at;      /* byte offset of gap[] */
    uint32_t parts_at;     /* byte offset of part[] */
    uint32_t parts_count;  /* elements of part[] */
    uint32_t parts_shift;  /* log2 of the bytes of a part */
    uint32_t firsts_at;    /* byte offset of first[] */
    uint32_t firsts_count; /* elements of first[]: pieces of all parts */
    uint32_t window;       /* entries that a search covers, 1 to n */
    uint32_t marks_at;     /* byte offset of mark[] */
    uint32_t tokens_at;    /* byte offset of the tokens */
    uint32_t tokens_bytes; /* 0 = codes stand for themselves */
    uint32_t names_at;     /* byte offset of the names */
    uint32_t names_bytes;
    uint32_t pointer_bits;               /* 32 or 64 */
    uint32_t build_id_bytes;             /* 0 to PROF_BUILD_ID_MAX */
    uint8_t build_id[PROF_BUILD_ID_MAX]; /* of the image */
};

/* Describes the space that an image reserves for its table
 * (PROF_SYMBOLS_RESERVE). `parasite embed` searches the loaded segments for the
 * magic. (self) distinguishes the descriptor from a copy, and gives the full
 * run-time address of 64-bit code in a 32-bit ELF file. */
#define PROF_SYMBOLS_SPACE_MAGIC "\177prof symbols\n"
#define PROF_SYMBOLS_SPACE_MAGIC_BYTES 16u

struct prof_symbols_space {
    char magic[PROF_SYMBOLS_SPACE_MAGIC_BYTES]; /* padded with NULs */
    uint32_t pointer_bits;                      /* 32 or 64 */
    uint32_t bytes;                             /* size of (table) */
    const struct prof_symbols_space *self;      /* address of this struct */
    const void *table; /* aligned to 8 bytes; zeros until `embed` fills it */
};

#endif
