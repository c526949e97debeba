/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_MAP_H
#define PROF_MAP_H

/*
 * The heap map: how many samples, and how much time, at each code address.
 *
 * Open addressing with linear probing in one piece of memory from
 * prof_port_alloc(), doubled when it gets three quarters full. Where the new
 * piece is refused the old one goes on to its last free slot; after that new
 * keys are refused, old ones still count. Nothing is ever removed but by
 * prof_map_clear().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_cell {
    uintptr_t key;   /* code address; means something where count is not 0 */
    uintptr_t owner; /* what the address belongs to: its function's start */
    uint64_t count;  /* samples, 0 = free */
    uint64_t cycles; /* time that they stand for */

    /* Of an address, place.c's notes: */
    uint32_t node;        /* of the stack that it is alone, 0 = none yet; of a
                             function: for hottest.c */
    uint32_t class : 2;   /* enum prof_class */
    uint32_t site : 3;    /* PROF_SITE_* of the code there, 0 = unknown */
    uint32_t caller : 27; /* where its caller is found, 0 = unknown */
};

struct prof_map {
    struct prof_cell *cells; /* NULL before the first reserve */
    uint32_t capacity;       /* cells, a power of two, or 0 */
    uint32_t used;           /* cells in use */
    uint32_t refusals;       /* allocations that were refused */
};

/*
 * Makes sure that one more key fits. May allocate; contexts: the drain.
 * Returns false when it does not fit and no memory is to be had.
 */
bool prof_map_reserve(struct prof_map *map);

/* The cell of (key), or NULL. Contexts: thread. */
struct prof_cell *prof_map_find(const struct prof_map *map, uintptr_t key);

/*
 * Adds (count) samples and (cycles) to (key), which belongs to (owner).
 * A key that is new needs a prof_map_reserve() that said true just before.
 * Returns its cell, which stays until the next reserve.
 */
struct prof_cell *prof_map_add(struct prof_map *map, uintptr_t key,
                               uintptr_t owner, uint64_t count,
                               uint64_t cycles);

/* Forgets all keys and counts, and keeps the memory. */
void prof_map_clear(struct prof_map *map);

#endif
