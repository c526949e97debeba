/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TABLE_H
#define PROF_TABLE_H

/*
 * A growing hash table of records, found by a key and the number of another
 * record, their parent. Records are numbered from 1 in the order in which they
 * are added, so a parent's number is less than its child's; numbers never
 * change. Number 0 is a record of zeros: the root, or "none".
 *
 * The records and the hash slots are one block from prof_port_alloc(). Slots
 * hold record numbers: open addressing with linear probing, twice as many slots
 * as records, so never more than half full. When all records are in use, a
 * block of twice the size replaces it. If that allocation fails, existing
 * records are still found, and no new one can be added. Nothing is removed.
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
    void *records;         /* number 0 alone before the first reserve */
    uint32_t *slots;       /* numbers of records, 0 = free; 2 * capacity */
    uint32_t mask;         /* number of slots - 1 */
    uint32_t record_bytes; /* size of one */
    uint32_t capacity;     /* records, a power of two, or 0 */
    uint32_t used;         /* records in use, number 0 included */
    uint32_t refusals;     /* allocations that were refused */
};

/* An empty table of (type), which begins with a struct prof_record. */
#define PROF_TABLE(type)                                                       \
    ((struct prof_table){.records = (void *)(uintptr_t)prof_table_zeros,       \
                         .slots = (void *)(uintptr_t)prof_table_zeros,         \
                         .record_bytes = sizeof(type)})

/* The record 0 and the only slot of empty tables, so that nobody who searches
 * must ask whether there is memory. */
extern const uint64_t prof_table_zeros[8];

/* The record (number) of a table of (type) that has memory. The address is
 * valid until the next reserve. */
#define PROF_TABLE_AT(table, type, number) ((type *)(table)->records + (number))

/* Doubles the room. Returns false if the allocation failed. */
bool prof_table_grow(struct prof_table *table);

/*
 * Ensures room for one more record; may allocate. Returns false if the
 * allocation failed. Contexts: the drain.
 */
static inline bool prof_table_reserve(struct prof_table *table)
{
    return table->used < table->capacity || prof_table_grow(table);
}

/* The number of the record with (key) and (parent), 0 if there is none.
 * Contexts: thread. */
uint32_t prof_table_find(const struct prof_table *table, uint32_t parent,
                         uintptr_t key);

/*
 * Adds a record with (key) and (parent), all else 0, and returns its number.
 * There must be no such record, and prof_table_reserve() must have returned
 * true.
 */
uint32_t prof_table_add(struct prof_table *table, uint32_t parent,
                        uintptr_t key);

/* True: tables no longer allocate, for a panic. False: they may again. */
void prof_table_freeze(bool frozen);

/* The slot of the record or, if there is none, the free slot for it. Inline, so
 * that the compiler knows the record size. */
static inline uint32_t *prof_table_slot(const struct prof_table *table,
                                        size_t record_bytes, uint32_t parent,
                                        uintptr_t key)
{
    uint32_t mask = table->mask;
    uint32_t mixed = ((uint32_t)key ^ parent * 0x85ebca6bu) * 0x9e3779b1u;
    uint32_t at = (mixed ^ mixed >> 15) & mask;

    for (; table->slots[at] != 0; at = (at + 1) & mask) {
        const struct prof_record *record =
            (const void *)((const char *)table->records +
                           table->slots[at] * record_bytes);

        if (record->key == key && record->parent == parent)
            break;
    }
    return &table->slots[at];
}

#endif
