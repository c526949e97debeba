/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SYMBOLS_H
#define PROF_SYMBOLS_H

/*
 * From an address to the function that holds it, without heap and without
 * waiting: the image carries its own sorted table (<prof/symtab.h>).
 *
 * The table is tested once, as a whole, by prof_symbols_open(); after that a
 * lookup reads only what was found sound. With no table, or a damaged one,
 * every lookup says "unknown" and callers print the address in hexadecimal.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one lookup found. Lives as long as the image: nothing is copied. */
struct prof_symbol {
    uintptr_t start; /* first address of the function */
    size_t size;     /* its bytes */
    uint32_t index;  /* its place in the table, 0 for the lowest address */
};

/*
 * Tests the table of (bytes) bytes at (table) and uses it from now on.
 * (build_id) is the image's own, (build_id_bytes) long; 0 bytes skips that
 * test.
 *
 * Contexts: boot, thread. Linear in the table, reads nothing outside it.
 * Returns 0, or one of the negative codes of <prof/error.h> (PROF_ESYM...) and
 * then goes on without names. Whether it failed and why stays readable with
 * prof_symbols_error().
 */
int prof_symbols_open(const void *table, size_t bytes, const void *build_id,
                      size_t build_id_bytes);

/* What the last prof_symbols_open() returned, PROF_ESYM_NONE before any. */
int prof_symbols_error(void);

/*
 * How many entries the table in use has: its functions, and the gaps between
 * them that are wide (<prof/symtab.h>). 0 without a table.
 */
uint32_t prof_symbols_count(void);

/*
 * Finds the function whose [start, start + size) holds (address).
 *
 * Contexts: any, NMI and panic included; re-entrant; no allocation; at most
 * 32 probes, 64 bytes of stack. Returns false, leaving (*found) alone, for an
 * address in no function: a gap between two is not blamed on its neighbour.
 */
bool prof_symbol_find(uintptr_t address, struct prof_symbol *found);

/*
 * Writes the name of (symbol), which prof_symbol_find() found, as the linker
 * knows it (mangled) into (out): as much of it as (size) bytes hold, always
 * NUL-terminated unless (size) is 0, when (out) MAY be NULL.
 *
 * Contexts: any, NMI and panic included; re-entrant; no allocation; at most
 * 128 bytes of stack; expands at most 16 names of 32,767 bytes, and 8 as long
 * as they are in the middle. Returns the bytes of the whole name without its
 * NUL, so that a result of (size) or more says that it was cut; 0, and an
 * empty text, where the table that it was found in is no longer in use.
 */
size_t prof_symbol_name(const struct prof_symbol *symbol, char *out,
                        size_t size);

#ifdef __cplusplus
}
#endif

#endif
