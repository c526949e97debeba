/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SYMTAB_TEST_H
#define PROF_SYMTAB_TEST_H

#include <prof/symtab.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Tests the table of (bytes) bytes at (head) as prof_symbols_open() promises,
 * and returns what that returns. Reads nothing outside the table.
 *
 * Contexts: any; no state, no allocation. Linear in the table.
 */
int prof_symtab_test(const struct prof_symtab *head, size_t bytes,
                     const void *build_id, size_t build_id_bytes);

/* The words at byte offset (at) of a table, which is a multiple of four. */
static inline const uint32_t *prof_symtab_words(const struct prof_symtab *head,
                                                uint32_t at)
{
    return (const uint32_t *)(const void *)((const uint8_t *)head + at);
}

#endif
