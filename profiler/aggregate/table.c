/* SPDX-License-Identifier: Apache-2.0 */

#include "aggregate/table.h"

#include "base/alloc.h"
#include "base/cpu.h"

#include <prof/port.h>

#define FIRST_SLOTS (2 * PROF_SEGMENT)
#define FIRST_SEGMENTS 32u
#define RECORDS_MAX (1u << 29)

/*
 * The next slots are begun when three eighths of the present ones are in use,
 * and must be made before half are: while as many records are added as an
 * eighth of the slots. There are twice as many slots to clear, CLEARED at a
 * time, and at most half as many records to enter: with ENTERED at a time that
 * is 2 / CLEARED + 1 / 2 / ENTERED < 1 / 8.
 */
#define CLEARED 128u
#define ENTERED 5u

/* So many times as much where memory was refused until there was no room. */
#define CATCH_UP 512u

const uint64_t prof_table_zeros[8];
const uintptr_t prof_table_no_segments[1] = {(uintptr_t)prof_table_zeros};

static bool frozen;

void prof_table_freeze(bool freeze)
{
    frozen = freeze;
}

static struct prof_record *record_at(const struct prof_table *table,
                                     uint32_t number)
{
    return prof_table_record(table->segments, table->record_bytes, number);
}

/* Records are whole words, and so are slots, two of them. */
static size_t words(size_t bytes)
{
    return bytes / sizeof(uintptr_t);
}

static void *allocate(struct prof_table *table, size_t count, size_t bytes)
{
    void *memory = NULL;

    if (count <= SIZE_MAX / bytes)
        memory = prof_alloc(count * bytes);
    if (memory == NULL)
        table->refusals++;
    return memory;
}

static bool add_segments(struct prof_table *table)
{
    uint32_t before = table->segments_max;
    uint32_t after = before == 0 ? FIRST_SEGMENTS : 2 * before;
    uintptr_t *segments = allocate(table, after, sizeof *segments);

    if (segments == NULL)
        return false;
    prof_copy_words(segments, table->segments,
                    words(before * sizeof *segments));
    if (before != 0)
        prof_free(table->segments);
    else
        segments[0] = table->segments[0];
    table->segments = segments;
    table->segments_max = after;
    return true;
}

static bool add_segment(struct prof_table *table)
{
    uint32_t number = table->capacity / PROF_SEGMENT;
    void *memory;

    if (table->capacity >= RECORDS_MAX ||
        (number == table->segments_max && !add_segments(table)))
        return false;
    memory = allocate(table, PROF_SEGMENT, table->record_bytes);
    if (memory == NULL)
        return false;
    table->segments[number] =
        (uintptr_t)memory - (uintptr_t)table->capacity * table->record_bytes;
    table->capacity += PROF_SEGMENT;
    if (number == 0) {
        prof_clear_words(memory, words(table->record_bytes));
        table->used = 1;
    }
    return true;
}

/* Slots in force; 0 before there are any. */
static uint32_t slots_of(const struct prof_table *table)
{
    return table->mask != 0 ? table->mask + 1 : 0;
}

/* How many records there are when the next slots are begun. */
static uint32_t begin_at(const struct prof_table *table)
{
    return slots_of(table) / 8 * 3;
}

static void replace_slots(struct prof_table *table, uint32_t slots)
{
    if (table->mask != 0)
        prof_free(table->slots);
    table->slots = table->next_slots;
    table->mask = slots - 1;
    table->next_slots = NULL;
}

static void enter_records(struct prof_table *table, uint32_t slots,
                          uint32_t most)
{
    uint32_t *const next = table->next_slots;
    uint32_t number = table->entered;
    uint32_t end = table->used - number > most ? number + most : table->used;

    for (; number < end; number++) {
        const struct prof_record *record = record_at(table, number);
        uint32_t at =
            prof_table_hash(record->parent, record->key) & (slots - 1);

        while (next[at] != 0)
            at = (at + 1) & (slots - 1);
        next[at] = number;
    }
    table->entered = number;
}

/* Does some of the work on the (slots) next slots: (times) as much as for one
 * record that is added. */
static void make_slots(struct prof_table *table, uint32_t slots, uint32_t times)
{
    uint32_t left = slots - table->cleared, clear = CLEARED * times;

    if (left != 0) {
        clear = left < clear ? left : clear;
        prof_clear_words(table->next_slots + table->cleared,
                         words(clear * sizeof *table->slots));
        table->cleared += clear;
    }
    if (table->cleared < slots)
        return;
    enter_records(table, slots, ENTERED * times);
    if (table->entered == table->used)
        replace_slots(table, slots);
}

static void grow_slots(struct prof_table *table)
{
    uint32_t present = slots_of(table);
    uint32_t slots = present == 0 ? FIRST_SLOTS : 2 * present;

    if (table->next_slots == NULL) {
        if (table->used < begin_at(table))
            return;
        table->next_slots = allocate(table, slots, sizeof *table->slots);
        table->cleared = 0;
        table->entered = 1;
    }
    if (table->next_slots != NULL)
        make_slots(table, slots, table->used < present / 2 ? 1 : CATCH_UP);
}

/* How many records there may be before there is work to do again. */
static uint32_t idle_until(const struct prof_table *table)
{
    uint32_t begin = begin_at(table);

    if (table->next_slots != NULL)
        return 0;
    return begin < table->capacity ? begin : table->capacity;
}

bool prof_table_grow(struct prof_table *table)
{
    if (!frozen && (table->used < table->capacity || add_segment(table))) {
        grow_slots(table);
        table->idle = idle_until(table);
    }
    return table->used < table->capacity && table->used < slots_of(table) / 2;
}

uint32_t *prof_table_find_slot(const struct prof_table *table, uint32_t parent,
                               uintptr_t key)
{
    return prof_table_slot(table, table->record_bytes, parent, key);
}
