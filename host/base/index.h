/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_INDEX_H
#define BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A map from 64-bit keys to dense numbers that the map assigns itself: 0, 1, 2,
 * ... in the order in which keys are added. The caller keeps a key's data in a
 * vector at that number. A pair of numbers is a key too, so anything that has
 * several parts is looked up part by part.
 *
 * Keys may come from a trace that somebody made to be slow: where they lie
 * depends on random numbers of the process, the numbers that they get do not.
 */

#define INDEX_NONE UINT32_MAX

struct index_slot {
    uint64_t key;
    uint32_t number; /* INDEX_NONE = free */
};

/* Starts as zeros. */
struct index {
    struct index_slot *slots;
    uint32_t room;  /* slots, a power of two, or 0 */
    uint32_t count; /* keys */
};

/* Returns the key's number, or INDEX_NONE. */
uint32_t index_find(const struct index *index, uint64_t key);

/* The key's number, added if it is new: *(is_new), if not NULL, says so. */
uint32_t index_add(struct index *index, uint64_t key, bool *is_new);

/* The same for a key with a row: if the key is new, a copy of (row), of
 * (bytes), goes to its number in *(rows), a vector (base/memory.h). */
uint32_t index_add_row(struct index *index, uint64_t key, void *rows,
                       const void *row, size_t bytes);

/* How many slots a lookup of (key) looks at, for tests. Linear in them. */
uint32_t index_probes(const struct index *index, uint64_t key);

void index_free(struct index *index);

static inline uint64_t index_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* Interned strings by dense numbers; 0 is the empty one. Starts as zeros. */
struct strings {
    struct index keys;
    char **texts;
};

uint32_t strings_put(struct strings *strings, const char *text);

/* Lives as long as (strings). */
const char *strings_text(const struct strings *strings, uint32_t number);

uint32_t strings_count(const struct strings *strings);

void strings_free(struct strings *strings);

#endif
