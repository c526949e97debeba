/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TABLE_H
#define PROF_TABLE_H

/*
 * A growing hash table of records, whose key is an address and the number of
 * another record, the parent. Records are numbered from 1 in the order in which
 * they are added; numbers and addresses never change, and records are never
 * removed. Number 0 is a record of zeros: the root, or "none".
 *
 * Records are in segments of equal size from prof_port_alloc(). Hash slots hold
 * record numbers: open addressing with linear probing, at most half in use.
 *
 * The table grows incrementally, so that no call takes long. Before half of the
 * slots are in use, twice as many are allocated. Each addition of a record then
 * clears some of the new slots or, when all are clear, enters some records in
 * them, oldest first; lookups use the old slots meanwhile. When the last record
 * is entered, the new slots replace the old ones.
 *
 * If an allocation fails, existing records are still found; when there is no
 * room left, no record can be added.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How each record begins. */
struct prof_record {
    uintptr_t key;
    uint32_t parent; /* 0 where keys are unique by themselves */
    uint32_t link;   /* defined by the table's owner */
};

struct prof_table {
    uintptr_t *segments;   /* where each would have number 0 */
    uint32_t *slots;       /* numbers of records, 0 = free */
    uint32_t *next_slots;  /* twice as many, being filled, or NULL */
    uint32_t mask;         /* number of slots - 1 */
    uint32_t record_bytes; /* size of one */
    uint32_t capacity;     /* records for which there are segments */
    uint32_t used;         /* records in use, number 0 included */
    uint32_t idle;    /* while (used) is below this, there is nothing to grow */
    uint32_t cleared; /* next slots cleared */
    uint32_t entered; /* records in next slots, number 0 included */
    uint32_t segments_max; /* for which there is room, 0 at first */
    uint32_t refusals;     /* allocations that were refused */
};

#define PROF_SEGMENT_BITS 8u
#define PROF_SEGMENT (1u << PROF_SEGMENT_BITS) /* records in each */

/* An empty table of (type), which begins with a struct prof_record. */
#define PROF_TABLE(type)                                                       \
    ((struct prof_table){.segments =                                           \
                             (void *)(uintptr_t)prof_table_no_segments,        \
                         .slots = (void *)(uintptr_t)prof_table_zeros,         \
                         .record_bytes = sizeof(type)})

/* The record 0 and the only slot of empty tables, so that lookups need no test
 * for missing memory. */
extern const uint64_t prof_table_zeros[8];
extern const uintptr_t prof_table_no_segments[1];

/* The record (number) in (segments). */
static inline void *prof_table_record(const uintptr_t *segments,
                                      size_t record_bytes, uint32_t number)
{
    return (void *)(segments[number >> PROF_SEGMENT_BITS] +
                    number * record_bytes);
}

/* The record (number) of a table of (type). */
#define PROF_TABLE_AT(table, type, number)                                     \
    ((type *)prof_table_record((table)->segments, sizeof(type), number))

/* Return the record (number), given the address (record) of the one before it,
 * or after it; for iteration. */
static inline void *prof_table_next(const struct prof_table *table,
                                    const void *record, size_t record_bytes,
                                    uint32_t number)
{
    return number % PROF_SEGMENT != 0
               ? (void *)((uintptr_t)record + record_bytes)
               : prof_table_record(table->segments, record_bytes, number);
}

static inline void *prof_table_before(const struct prof_table *table,
                                      const void *record, size_t record_bytes,
                                      uint32_t number)
{
    return record != NULL && (number + 1) % PROF_SEGMENT != 0
               ? (void *)((uintptr_t)record - record_bytes)
               : prof_table_record(table->segments, record_bytes, number);
}

#define PROF_TABLE_NEXT(table, record, number)                                 \
    ((__typeof__(record))prof_table_next(table, record, sizeof *(record),      \
                                         number))
#define PROF_TABLE_BEFORE(table, record, number)                               \
    ((__typeof__(record))prof_table_before(table, record, sizeof *(record),    \
                                           number))

/* Makes room, and does the next part of growing. Returns false if an allocation
 * failed. */
bool prof_table_grow(struct prof_table *table);

/* Ensures room for one more record; may allocate. Returns false if that failed.
 * Contexts: the drain. */
static inline bool prof_table_reserve(struct prof_table *table)
{
    return table->used < table->idle || prof_table_grow(table);
}

/* Sets whether tables may not allocate, as in a panic. */
void prof_table_freeze(bool frozen);

static inline uint32_t prof_table_hash(uint32_t parent, uintptr_t key)
{
    uint32_t mixed = ((uint32_t)key ^ parent * 0x85ebca6bu) * 0x9e3779b1u;

    return mixed ^ mixed >> 15;
}

/* Returns the slot of the record or, if there is none, the free slot for it.
 * Inline, so that the compiler knows the record size. */
static inline uint32_t *prof_table_slot(const struct prof_table *table,
                                        size_t record_bytes, uint32_t parent,
                                        uintptr_t key)
{
    uint32_t mask = table->mask;
    uint32_t at = prof_table_hash(parent, key) & mask;

    for (; table->slots[at] != 0; at = (at + 1) & mask) {
        const struct prof_record *record =
            prof_table_record(table->segments, record_bytes, table->slots[at]);

        if (record->key == key && record->parent == parent)
            break;
    }
    return &table->slots[at];
}

/* Like prof_table_slot(), if speed does not matter. */
uint32_t *prof_table_find_slot(const struct prof_table *table, uint32_t parent,
                               uintptr_t key);

/* Adds a record with (key) and (parent), and all other members 0, in the free
 * (slot) that prof_table_slot() has returned, if no record was added since.
 * Returns its number; 0: no memory. Contexts: the drain. */
static inline uint32_t prof_table_add(struct prof_table *table,
                                      size_t record_bytes, uint32_t *slot,
                                      uint32_t parent, uintptr_t key)
{
    const uint32_t *slots = table->slots;
    struct prof_record *record;
    uint32_t number;

    if (!prof_table_reserve(table))
        return 0;
    if (slots != table->slots) /* they were replaced */
        slot = prof_table_find_slot(table, parent, key);
    number = *slot = table->used++;
    record = prof_table_record(table->segments, record_bytes, number);
    __builtin_memset(record, 0, record_bytes);
    record->key = key;
    record->parent = parent;
    return number;
}

#endif
