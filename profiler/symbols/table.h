/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SYMTAB_TEST_H
#define PROF_SYMTAB_TEST_H

#include <prof/symtab.h>
#include <stddef.h>
#include <stdint.h>

/* Offset of the texts in the tokens. */
#define PROF_SYMTAB_BEGINS ((PROF_SYMTAB_CODES + 1) * sizeof(uint16_t))

/*
 * Validates the table of (bytes) bytes at (head) for prof_symbols_open(), and
 * returns its result. Reads nothing outside the table.
 *
 * Contexts: any; no state, no allocation. Linear in the table.
 */
int prof_symtab_test(const struct prof_symtab *head, size_t bytes,
                     const void *build_id, size_t build_id_bytes);

/* What lies at byte offset (at) of a table: bytes, or, as (at) is a multiple
   of four, words. */
static inline const uint8_t *prof_symtab_bytes(const struct prof_symtab *head,
                                               uint32_t at)
{
    return (const uint8_t *)head + at;
}

static inline const uint32_t *prof_symtab_words(const struct prof_symtab *head,
                                                uint32_t at)
{
    return (const uint32_t *)(const void *)prof_symtab_bytes(head, at);
}

static inline const uint16_t *prof_symtab_begins(const struct prof_symtab *head)
{
    return (const uint16_t *)(const void *)prof_symtab_bytes(head,
                                                             head->tokens_at);
}

/* Returns the log2 of the bytes of the pieces of (part). */
static inline unsigned prof_symtab_piece_shift(uint32_t part)
{
    return part & 31;
}

/* Returns the index in first[] of the piece with byte (inside) of (part). */
static inline uint32_t prof_symtab_piece(uint32_t part, uint32_t inside)
{
    return (part >> 5) + (inside >> prof_symtab_piece_shift(part));
}

/* Reads the number of codes at *at, and advances *at. */
static inline uint32_t prof_symtab_length(const uint8_t **at)
{
    uint32_t length = *(*at)++;

    if (length >= 0x80)
        length = (length & 0x7f) << 8 | *(*at)++;
    return length;
}

#endif
