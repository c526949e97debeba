/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SYMBOLS_H
#define PROF_SYMBOLS_H

/*
 * Finds the function that contains an address, without a heap and without
 * waiting: the image includes its own sorted table (<prof/symtab.h>).
 *
 * prof_symbols_open() validates the whole table once; lookups then need no
 * checks. Without a table, or with a damaged one, every lookup fails and
 * callers print the address in hexadecimal.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a lookup. Valid as long as the table is in use. */
struct prof_symbol {
    uintptr_t start; /* first address of the function */
    size_t size;     /* its bytes */
    uint32_t index;  /* its entry in the table, 0 = the lowest address */
};

/*
 * Validates the table of (bytes) bytes at (table) and uses it from now on.
 * (build_id), (build_id_bytes) long, is the image's own and must match; 0 bytes
 * skips that test.
 *
 * Contexts: boot, thread. Linear in the table; reads nothing outside it.
 * Returns 0, or a negative PROF_ESYM... (<prof/error.h>); there are then no
 * names. prof_symbols_error() returns the result again later.
 */
int prof_symbols_open(const void *table, size_t bytes, const void *build_id,
                      size_t build_id_bytes);

/* What the last prof_symbols_open() returned, PROF_ESYM_NONE before any. */
int prof_symbols_error(void);

/*
 * Entries of the table in use: functions, and wide gaps between them
 * (<prof/symtab.h>). 0 without a table.
 */
uint32_t prof_symbols_count(void);

/*
 * Finds the function whose [start, start + size) contains (address).
 *
 * Contexts: any, NMI and panic included; re-entrant; no allocation; at most
 * 32 probes, 64 bytes of stack. Returns false and leaves (*found) unchanged for
 * an address in no function, such as the padding between two.
 */
bool prof_symbol_find(uintptr_t address, struct prof_symbol *found);

/*
 * Writes the mangled name of (symbol), which prof_symbol_find() found, into
 * (out): as much as fits into (size) bytes, always NUL-terminated. With (size)
 * 0 nothing is written and (out) MAY be NULL.
 *
 * Contexts: any, NMI and panic included; re-entrant; no allocation; at most
 * 128 bytes of stack; expands at most 16 names of up to 32,767 bytes, on
 * average 8. Returns the length of the whole name in bytes, without NUL; if it
 * is (size) or more, the name was cut. Returns 0, with an empty text, if the
 * table in which (symbol) was found is no longer in use.
 */
size_t prof_symbol_name(const struct prof_symbol *symbol, char *out,
                        size_t size);

#ifdef __cplusplus
}
#endif

#endif
