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

#include <prof/config.h>
#include <prof/error.h>
#include <prof/symbols.h>

#include "symbols/elf.h"
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

#if PROF_WITH_BUILTIN
static uintptr_t moved; /* where the image runs, less where it is linked */

void prof_symbols_moved(uintptr_t bytes)
{
    moved = bytes;
}

uintptr_t prof_symbols_moved_by(void)
{
    return moved;
}
#else
enum { moved = 0 };
#endif

/* Caches where everything lies in a valid table. */
static void use_table(const struct prof_symtab *head)
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
    table.base = (uintptr_t)head->base + moved;
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
    if (PROF_WITH_ELF)
        prof_elf_close();
    table.error = prof_symtab_test(head, bytes, build_id, build_id_bytes);
    if (table.error != PROF_OK || head->count == 0)
        return table.error;
    use_table(head);
    /* B: pairs with C. Whoever sees the count sees the fields. */
    __atomic_store_n(&table.count, head->count, __ATOMIC_RELEASE);
    return PROF_OK;
}

#if PROF_WITH_ELF
int prof_symbols_elf(const struct prof_elf_symbols *symbols)
{
    __atomic_store_n(&table.count, 0, __ATOMIC_SEQ_CST); /* A */
    table.error = prof_elf_open(symbols);
    return table.error;
}
#endif

int prof_symbols_error(void)
{
    return table.error;
}

uint32_t prof_symbols_count(void)
{
    uint32_t count = __atomic_load_n(&table.count, __ATOMIC_ACQUIRE); /* C */

    return PROF_WITH_ELF && count == 0 ? prof_elf_count() : count;
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

    if (PROF_WITH_ELF && count == 0)
        return prof_elf_find(address, found);
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
 * back as the last mark. So a name is made backwards: its own part, then of the
 * names before it what each adds to the prefix that is still missing. Most add
 * nothing and are not expanded.
 */

/* Writes (length) bytes, or codes, from (at) on to out[to] and after; only the
 * first (size) bytes of (out) are written. Returns where the text would end. */
static size_t put_codes(char *out, size_t to, size_t size, const uint8_t *at,
                        uint32_t length)
{
    const uint16_t *begins = table.begins;
    const char *texts = table.texts;

    for (; length > 0; --length, ++at) {
        const char *from = (const char *)at;
        size_t end = to + 1;

        if (begins != NULL) {
            from = texts + begins[*at];
            end = to + begins[*at + 1] - begins[*at];
        }
        for (size_t stop = end < size ? end : size; to < stop; ++to)
            out[to] = *from++;
        to = end;
    }
    return to;
}

/* The same for the codes of the entry at (at), after its prefix. */
static size_t put_own(char *out, size_t size, const uint8_t *at)
{
    size_t shared = *at++;
    uint32_t length = prof_symtab_length(&at);

    return put_codes(out, shared, size, at, length);
}

/* Writes the name that is (number) entries after the one at (at), and returns
 * its length. */
static size_t put_name(char *out, size_t size, const uint8_t *at,
                       uint32_t number)
{
    const uint8_t *entries[PROF_SYMTAB_BLOCK];
    size_t bytes;

    for (uint32_t i = 0; i < number; ++i) {
        uint32_t length;

        entries[i] = at++;
        length = prof_symtab_length(&at);
        at += length;
    }
    bytes = put_own(out, size, at);
    for (size = *at < size ? *at : size; size > 0; size = *at) {
        do
            at = entries[--number];
        while (*at >= size);
        put_own(out, size, at);
    }
    return bytes;
}

size_t prof_symbol_name(const struct prof_symbol *symbol, char *out,
                        size_t size)
{
    uint32_t count = __atomic_load_n(&table.count, __ATOMIC_ACQUIRE); /* C */
    uint32_t index = symbol->index;
    size_t bytes = 0;

    if (PROF_WITH_ELF && count == 0)
        return prof_elf_name(symbol, out, size);
    if (index < count)
        bytes = put_name(out, size,
                         table.names + table.marks[index / PROF_SYMTAB_BLOCK],
                         index % PROF_SYMTAB_BLOCK);
    if (size > 0)
        out[bytes < size ? bytes : size - 1] = '\0';
    return bytes;
}
