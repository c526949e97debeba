/* SPDX-License-Identifier: Apache-2.0 */

/* The growing table; its rules are in table.h. */

#include "profile/table.h"

#include "base/cpu.h"

#include <prof/port.h>

#define FIRST_CAPACITY 256u
#define CAPACITY_MAX (1u << 30)

const uint64_t prof_table_zeros[8];

static bool frozen;

void prof_table_freeze(bool freeze)
{
    frozen = freeze;
}

static uint32_t *slot_for(const struct prof_table *table, uint32_t parent,
                          uintptr_t key)
{
    return prof_table_slot(table, table->record_bytes, parent, key);
}

static struct prof_record *record_at(const struct prof_table *table,
                                     uint32_t number)
{
    return (void *)((char *)table->records +
                    (size_t)number * table->record_bytes);
}

/* Records are whole words, and so are slots, two for each record. */
static size_t words(size_t bytes)
{
    return bytes / sizeof(uintptr_t);
}

/* Copies the records of (old), which keep their numbers, and rehashes them. All
 * others are cleared, and all slots, which follow them. */
static void move(struct prof_table *table, const struct prof_table *old)
{
    size_t used = (size_t)old->used * old->record_bytes;
    size_t all = table->capacity *
                 ((size_t)table->record_bytes + 2 * sizeof *table->slots);

    prof_copy_words(table->records, old->records, words(used));
    prof_clear_words((char *)table->records + used, words(all - used));
    for (uint32_t i = 1; i < old->used; i++) {
        const struct prof_record *record = record_at(table, i);

        *slot_for(table, record->parent, record->key) = i;
    }
}

/* Reallocates the table for (capacity) records. False: no memory. */
static bool grow(struct prof_table *table, uint32_t capacity)
{
    struct prof_table bigger = *table;
    size_t each = table->record_bytes + 2 * sizeof *bigger.slots;

    if (frozen || capacity > CAPACITY_MAX || SIZE_MAX / each < capacity)
        return false;
    bigger.records = prof_port_alloc(capacity * each);
    if (bigger.records == NULL) {
        table->refusals++;
        return false;
    }
    bigger.capacity = capacity;
    bigger.mask = 2 * capacity - 1;
    bigger.slots = (uint32_t *)(void *)record_at(&bigger, capacity);
    bigger.used = table->used > 0 ? table->used : 1;
    move(&bigger, table);
    if (table->capacity != 0)
        prof_port_free(table->records);
    *table = bigger;
    return true;
}

bool prof_table_grow(struct prof_table *table)
{
    return grow(table,
                table->capacity == 0 ? FIRST_CAPACITY : table->capacity * 2);
}

uint32_t prof_table_find(const struct prof_table *table, uint32_t parent,
                         uintptr_t key)
{
    return *slot_for(table, parent, key);
}

uint32_t prof_table_add(struct prof_table *table, uint32_t parent,
                        uintptr_t key)
{
    uint32_t number = table->used++;
    struct prof_record *record = record_at(table, number);

    record->key = key;
    record->parent = parent;
    *slot_for(table, parent, key) = number;
    return number;
}
