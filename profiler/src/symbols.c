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
    const uint8_t *gaps;     /* bytes behind each function */
    const uint32_t *marks;   /* where in the names each 16th begins */
    const uint8_t *names;
    const uint16_t *begins; /* in the texts, by code; NULL = codes are bytes */
    const char *texts;      /* what the codes stand for */
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

/* Takes over where everything lies in a table that is sound. */
static void take(const struct prof_symtab *head)
{
    table.offsets = prof_symtab_words(head, head->offsets_at);
    table.gaps = prof_symtab_bytes(head, head->gaps_at);
    table.marks = prof_symtab_words(head, head->marks_at);
    table.names = prof_symtab_bytes(head, head->names_at);
    table.begins = head->tokens_bytes != 0 ? prof_symtab_begins(head) : NULL;
    table.texts = (const char *)prof_symtab_bytes(head, head->tokens_at) +
                  PROF_SYMTAB_BEGINS;
    table.base = (uintptr_t)head->base;
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
    take(head);
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

bool prof_symbol_find(uintptr_t address, struct prof_symbol *found)
{
    uint32_t count = __atomic_load_n(&table.count, __ATOMIC_ACQUIRE); /* C */
    uintptr_t key = address - table.base;
    uint32_t index, start, size;

    if (count == 0 || address < table.base || key > UINT32_MAX)
        return false;
    index = last_not_above((uint32_t)key);
    start = table.offsets[index];
    size = table.offsets[index + 1] - start - table.gaps[index];
    if (key < start || key - start >= size ||
        table.gaps[index] == PROF_SYMTAB_HOLE)
        return false;
    found->start = table.base + start;
    found->size = size;
    found->index = index;
    return true;
}

/*
 * A name begins with a part of the one before it, back to the next mark. So the
 * names from the mark on are written over each other, and what is there of one
 * when the next begins is all that the next can need.
 */

/* A text to be written, of which (out) takes the first (size) bytes. */
struct cut_text {
    char *out;
    size_t size;
    size_t bytes; /* written, whether or not they were taken */
};

static void put(struct cut_text *text, const char *from, uint32_t bytes)
{
    size_t room = text->size > text->bytes ? text->size - text->bytes : 0;
    size_t kept = bytes < room ? bytes : room;

    for (size_t i = 0; i < kept; ++i)
        text->out[text->bytes + i] = from[i];
    text->bytes += bytes;
}

/* Writes the name at (at) over the one before it; returns where it ends. */
static const uint8_t *put_name(struct cut_text *text, const uint8_t *at)
{
    const uint8_t *end;
    uint32_t length;

    text->bytes = *at++;
    length = prof_symtab_length(&at);
    end = at + length;
    if (table.begins == NULL) {
        put(text, (const char *)at, length);
        return end;
    }
    for (; at < end; ++at) {
        const uint16_t *begin = table.begins + *at;

        put(text, table.texts + begin[0], (uint32_t)begin[1] - begin[0]);
    }
    return end;
}

size_t prof_symbol_name(const struct prof_symbol *symbol, char *out,
                        size_t size)
{
    uint32_t count = __atomic_load_n(&table.count, __ATOMIC_ACQUIRE); /* C */
    struct cut_text text = {.out = out, .size = size};
    uint32_t index = symbol->index;
    const uint8_t *at;

    if (index < count) {
        at = table.names + table.marks[index / PROF_SYMTAB_BLOCK];
        for (uint32_t i = 0; i <= index % PROF_SYMTAB_BLOCK; ++i)
            at = put_name(&text, at);
    }
    if (size > 0)
        out[text.bytes < size ? text.bytes : size - 1] = '\0';
    return text.bytes;
}
