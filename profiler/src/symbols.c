/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image's own symbol table: tested once (symtab.c), then only searched.
 *
 * A lookup is a binary search without a jump that depends on the data: the way
 * through a table is different each time, so a jump would be guessed wrong
 * every other time. What is left to pay is one load after the other, 17 of
 * them for 100,000 functions. So the addresses are also cut into 512 equal
 * parts, for each of which it is known where to begin; that saves up to nine
 * of the loads for 2 KiB, and where the code lies unevenly it saves fewer.
 *
 * One reader may interrupt us at any instruction, an NMI that wants a name.
 * It sees no table while another one is being tested, never half of one.
 */

#include <prof/error.h>
#include <prof/symbols.h>

#include "symtab.h"

#define PARTS 512u

/* The table in use. Written by prof_symbols_open() only. */
static struct {
    const uint32_t *offsets; /* starts minus base, strictly rising */
    const uint32_t *sizes;   /* bytes, 0 = to the next start */
    const uint32_t *names;   /* byte offsets in strings */
    const char *strings;
    uintptr_t base;
    unsigned shift;            /* an offset's part is (offset >> shift) */
    uint32_t begin[PARTS + 1]; /* last start below the part, or 0 */
    uint32_t count;            /* 0 = there is none; lettered accesses only */
    int error;                 /* what the last prof_symbols_open() returned */
} table = {.error = PROF_ESYM_NONE};

/* Fills in shift and begin for (count) functions, which are not 0. */
static void cut_into_parts(uint32_t count)
{
    uint32_t passed = 0;

    table.shift = 0;
    while (table.offsets[count - 1] >> table.shift >= PARTS)
        ++table.shift;
    for (uint32_t part = 0; part <= PARTS; ++part) {
        while (passed < count && table.offsets[passed] >> table.shift < part)
            ++passed;
        table.begin[part] = passed > 0 ? passed - 1 : 0;
    }
}

int prof_symbols_open(const void *bytes_of_table, size_t bytes,
                      const void *build_id, size_t build_id_bytes)
{
    const struct prof_symtab *head = bytes_of_table;

    /* A: the old table is gone before any of its fields changes. */
    __atomic_store_n(&table.count, 0, __ATOMIC_SEQ_CST);
    table.error = prof_symtab_test(head, bytes, build_id, build_id_bytes);
    if (table.error != PROF_OK || head->count == 0)
        return table.error;
    table.offsets = prof_symtab_words(head, head->offsets_at);
    table.sizes = prof_symtab_words(head, head->sizes_at);
    table.names = prof_symtab_words(head, head->names_at);
    table.strings = (const char *)head + head->strings_at;
    table.base = (uintptr_t)head->base;
    cut_into_parts(head->count);
    /* B: pairs with C. Whoever sees the count sees the fields. */
    __atomic_store_n(&table.count, head->count, __ATOMIC_RELEASE);
    return PROF_OK;
}

int prof_symbols_error(void)
{
    return table.error;
}

uint32_t prof_symbols_count(void)
{
    return __atomic_load_n(&table.count, __ATOMIC_ACQUIRE); /* C */
}

/*
 * The place of the last start that is not above (key), 0 if all are above.
 * It is the last one below the part of (key), or lies in the part.
 */
static uint32_t last_not_above(uint32_t key)
{
    const uint32_t *offsets = table.offsets;
    uint32_t part = key >> table.shift;
    uint32_t first, left;

    if (part >= PARTS)
        part = PARTS - 1;
    first = table.begin[part];
    left = table.begin[part + 1] - first + 1;
    while (left > 1) {
        uint32_t half = left / 2;

        first += half & -(uint32_t)(offsets[first + half] <= key);
        left -= half;
    }
    return first;
}

/* The bytes of function (index). Where nobody knows, it ends at the next one;
   the last of all is then believed for its first byte only. */
static uint32_t size_of(uint32_t index, uint32_t count)
{
    if (table.sizes[index] != 0)
        return table.sizes[index];
    if (index + 1 == count)
        return 1;
    return table.offsets[index + 1] - table.offsets[index];
}

bool prof_symbol_find(uintptr_t address, struct prof_symbol *found)
{
    uint32_t count = __atomic_load_n(&table.count, __ATOMIC_ACQUIRE); /* C */
    uintptr_t key = address - table.base;
    uint32_t index, size;

    if (count == 0 || address < table.base || key > UINT32_MAX)
        return false;
    index = last_not_above((uint32_t)key);
    size = size_of(index, count);
    if (key < table.offsets[index] || key - table.offsets[index] >= size)
        return false;
    found->start = table.base + table.offsets[index];
    found->size = size;
    found->name = table.strings + table.names[index];
    found->index = index;
    return true;
}
