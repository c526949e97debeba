/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image's own symbol table: validated once (table.c), then only searched.
 *
 * A lookup is a branchless binary search: branches on the data would be
 * mispredicted half of the time. What remains is a chain of dependent loads, 17
 * of them for 100,000 functions. The table's index shortens it: two loads give
 * the entry to begin at, and the search covers only a window from there, mostly
 * of 16 or 32 entries even if functions are unevenly spread. The window is the
 * same for the whole table, so the number of iterations is predicted as well.
 *
 * An NMI may look up a name at any instruction. While a new table is being
 * validated it sees no table, never half of one.
 */

#include <prof/error.h>
#include <prof/symbols.h>

#include "symbols/table.h"

/* The table in use. Written by prof_symbols_open() only. */
static struct {
    const uint32_t *offsets; /* starts minus base, strictly rising */
    const uint8_t *gaps;     /* bytes between each function and the next */
    const uint32_t *parts;   /* the index: pieces of each part, */
    const uint32_t *firsts;  /* and entry where the search of a piece begins */
    const uint32_t *marks;   /* position of each 16th name in the names */
    const uint8_t *names;
    const uint16_t *begins; /* in the texts, by code; NULL = codes are bytes */
    const char *texts;      /* expansions of the codes */
    uintptr_t base;
    uint32_t end;       /* the last entry's, minus base */
    unsigned shift;     /* an offset's part is (offset >> shift) */
    uint32_t window;    /* entries that one search covers */
    uint32_t last_view; /* first entry of the last window of the table */
    uint32_t count;     /* 0 = there is none; lettered accesses only */
    int error;          /* what the last prof_symbols_open() returned */
} table = {.error = PROF_ESYM_NONE};

/* Caches where everything lies in a valid table. */
static void take(const struct prof_symtab *head)
{
    table.offsets = prof_symtab_words(head, head->offsets_at);
    table.gaps = prof_symtab_bytes(head, head->gaps_at);
    table.parts = prof_symtab_words(head, head->parts_at);
    table.firsts = prof_symtab_words(head, head->firsts_at);
    table.marks = prof_symtab_words(head, head->marks_at);
    table.names = prof_symtab_bytes(head, head->names_at);
    table.begins = head->tokens_bytes != 0 ? prof_symtab_begins(head) : NULL;
    table.texts = (const char *)prof_symtab_bytes(head, head->tokens_at) +
                  PROF_SYMTAB_BEGINS;
    table.base = (uintptr_t)head->base;
    table.end = table.offsets[head->count];
    table.shift = head->parts_shift;
    table.window = head->window;
    table.last_view = head->count - head->window;
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

/* Index of the last start that is not above (key), 0 if all are above. */
static uint32_t last_not_above(uint32_t key)
{
    const uint32_t *offsets = table.offsets;
    uint32_t part = table.parts[key >> table.shift];
    uint32_t inside = key & (((uint32_t)1 << table.shift) - 1);
    uint32_t first = table.firsts[prof_symtab_piece(part, inside)];
    uint32_t left = table.window;

    first = first < table.last_view ? first : table.last_view;
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

    /* below base, key wraps around to above the end; test_order() checks it */
    if (count == 0 || key >= table.end)
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
 * Names are front-coded: each shares a prefix with the one before it, as far
 * back as the last mark. So a name is made by writing the names from the mark
 * on over each other in the same buffer. A cut buffer is no problem: the part
 * of the prefix that was cut would be cut from this name as well.
 */

/* A text being written; (out) receives its first (size) bytes. */
struct cut_text {
    char *out;
    size_t size;
    size_t bytes; /* length so far, including what was cut */
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
