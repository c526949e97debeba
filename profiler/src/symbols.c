/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image's own symbol table: tested once (symtab.c), then only searched.
 *
 * A lookup is a binary search without a jump that depends on the data: the way
 * through a table is different each time, so a jump would be guessed wrong
 * every other time. What is left to pay is one load after the other, 17 of
 * them for 100,000 functions. So the table's index says where to begin, with
 * two loads, and a search looks among as few entries as the index is able to
 * tell apart: 16 or 32, mostly, however unevenly the code lies. It is the same
 * number for all of a table, so that the loop's end is foreseen as well.
 *
 * One reader may interrupt us at any instruction, an NMI that wants a name.
 * It sees no table while another one is being tested, never half of one.
 */

#include <prof/error.h>
#include <prof/symbols.h>

#include "symtab.h"

/* The table in use. Written by prof_symbols_open() only. */
static struct {
    const uint32_t *offsets; /* starts minus base, strictly rising */
    const uint8_t *gaps;     /* bytes behind each function */
    const uint32_t *parts;   /* the index: each part's pieces */
    const uint32_t *firsts;  /* and where in a piece to begin */
    const uint32_t *marks;   /* where in the names each 16th begins */
    const uint8_t *names;
    const uint16_t *begins; /* in the texts, by code; NULL = codes are bytes */
    const char *texts;      /* what the codes stand for */
    uintptr_t base;
    uint32_t end;       /* the last entry's, minus base */
    unsigned shift;     /* an offset's part is (offset >> shift) */
    uint32_t window;    /* entries that are looked among */
    uint32_t last_view; /* where the last of them is the table's last */
    uint32_t count;     /* 0 = there is none; lettered accesses only */
    int error;          /* what the last prof_symbols_open() returned */
} table = {.error = PROF_ESYM_NONE};

/* Takes over where everything lies in a table that is sound. */
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

/* The place of the last start that is not above (key), 0 if all are above. */
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

    /* below base, key wraps around to above the end: test_order() saw to it */
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
