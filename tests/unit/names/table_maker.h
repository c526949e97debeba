/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TABLE_MAKER_H
#define TABLE_MAKER_H

/*
 * Makes symbol tables for the tests, good ones, to be damaged afterwards; raw
 * ones, and with the tokens at made_words ones whose names are compressed.
 *
 * A table lies in memory of exactly its length, so that AddressSanitizer sees
 * each byte that is read beyond it. The checksum is computed here a second
 * time, by the definition, so that it also tests the profiler's.
 */

#include <prof/symbols.h>
#include <prof/symtab.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MADE_BASE 0x100000u

struct made_function {
    uint32_t offset; /* rising, no function in its neighbour */
    uint32_t size;   /* 1 at least */
    const char *name;
};

struct made_table {
    struct prof_symtab *head; /* from malloc() */
    uint32_t *offsets;
    uint8_t *gaps;
    uint32_t *parts;
    uint32_t *firsts;
    uint32_t *marks;
    uint16_t *begins; /* NULL in a raw table */
    char *texts;      /* NULL in a raw table */
    uint8_t *names;
};

/* Codes from 0x80 on, for a compressed table; others stand for themselves. */
static const char *const made_words[] = {"_ZN", "ir",       "second",
                                         "th",  "\xc3\xa9", "f"};
#define MADE_WORDS (sizeof made_words / sizeof made_words[0])

static const uint8_t made_build_id[4] = {0xde, 0xad, 0xbe, 0xef};

static inline uint32_t made_crc(const uint8_t *bytes, size_t count)
{
    uint32_t crc = 0xffffffffu;

    while (count-- > 0) {
        crc ^= *bytes++;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ (0x82f63b78u & -(crc & 1u));
    }
    return ~crc;
}

/* Makes the checksum right again after the table was changed. */
static inline void made_seal(struct prof_symtab *head)
{
    head->crc = 0;
    head->crc = made_crc((const uint8_t *)head, head->total_bytes);
}

/* The expansion of (code) in a compressed table, into (text). */
static inline size_t made_text(unsigned code, char *text)
{
    text[0] = (char)code;
    text[1] = '\0';
    if (code >= 0x80)
        strcpy(text, code - 0x80 < MADE_WORDS ? made_words[code - 0x80] : "");
    return strlen(text);
}

/* Writes codes for (text), the longest first; returns how many. */
static inline uint32_t made_codes(const char *text, uint8_t *codes)
{
    uint32_t count = 0;

    while (*text != '\0') {
        uint8_t best = (uint8_t)*text;
        size_t bytes = 1;

        for (unsigned word = 0; word < MADE_WORDS; ++word) {
            size_t length = strlen(made_words[word]);

            if (length < bytes || strncmp(text, made_words[word], length) != 0)
                continue;
            best = (uint8_t)(0x80 + word);
            bytes = length;
        }
        codes[count++] = best;
        text += bytes;
    }
    return count;
}

/* Appends the head and the codes of (name) at (names); returns the bytes. */
static inline uint32_t made_name(uint8_t *names, const char *before,
                                 const char *name, bool packed)
{
    uint8_t *codes = malloc(strlen(name) + 1);
    uint32_t shared = 0, count, used = 0;

    while (packed && before != NULL && shared < 255 && name[shared] != '\0' &&
           before[shared] == name[shared])
        ++shared;
    count = (uint32_t)strlen(name + shared);
    memcpy(codes, name + shared, count);
    if (packed)
        count = made_codes(name + shared, codes);
    names[used++] = (uint8_t)shared;
    if (count >= 128)
        names[used++] = (uint8_t)(128 + count / 256);
    names[used++] = (uint8_t)(count % 256);
    memcpy(names + used, codes, count);
    free(codes);
    return used + count;
}

static inline uint32_t made_place(struct prof_symtab *head, uint32_t bytes)
{
    uint32_t at = (head->total_bytes + 3) & ~3u;

    head->total_bytes = at + bytes;
    return at;
}

/* Where everything lies for (head->count) entries, and how long it all is. */
static inline void made_plan(struct prof_symtab *head, uint64_t base,
                             uint32_t tokens_bytes, uint32_t names_bytes)
{
    head->magic = PROF_SYMTAB_MAGIC;
    head->version = PROF_SYMTAB_VERSION;
    head->base = base;
    head->total_bytes = sizeof *head;
    head->offsets_at = made_place(head, 4 * head->count + 4);
    head->gaps_at = made_place(head, head->count);
    head->parts_at = made_place(head, 4 * head->parts_count);
    head->firsts_at = made_place(head, 4 * head->firsts_count);
    head->marks_at = made_place(head, (head->count + 15) / 16 * 4);
    head->tokens_at = made_place(head, tokens_bytes);
    head->tokens_bytes = tokens_bytes;
    head->names_at = made_place(head, names_bytes);
    head->names_bytes = names_bytes;
    head->pointer_bits = 8 * sizeof(void *);
    head->build_id_bytes = sizeof made_build_id;
    memcpy(head->build_id, made_build_id, sizeof made_build_id);
}

/* Points to what is where in the table of (made.head). */
static inline void made_point(struct made_table *made, bool packed)
{
    uint8_t *bytes = (uint8_t *)made->head;

    made->offsets = (void *)(bytes + made->head->offsets_at);
    made->gaps = bytes + made->head->gaps_at;
    made->parts = (void *)(bytes + made->head->parts_at);
    made->firsts = (void *)(bytes + made->head->firsts_at);
    made->marks = (void *)(bytes + made->head->marks_at);
    made->begins = packed ? (void *)(bytes + made->head->tokens_at) : NULL;
    made->texts = packed ? (char *)(made->begins + 257) : NULL;
    made->names = bytes + made->head->names_at;
}

/* All entries of a table in the making, with the gaps that are some. */
struct made_entries {
    uint32_t *offsets;
    uint8_t *gaps;
    const char **names;
    uint32_t count;
};

static inline struct made_entries made_entries(const struct made_function *all,
                                               uint32_t count)
{
    struct made_entries made = {malloc((2 * count + 1) * sizeof(uint32_t)),
                                malloc(2 * count + 1),
                                malloc((2 * count + 1) * sizeof(char *)), 0};

    made.offsets[0] = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t end = all[i].offset + all[i].size;
        uint32_t next = i + 1 < count ? all[i + 1].offset : end;

        made.offsets[made.count] = all[i].offset;
        made.names[made.count] = all[i].name;
        made.gaps[made.count++] = next - end < 255 ? (uint8_t)(next - end) : 0;
        if (next - end >= 255) {
            made.offsets[made.count] = end;
            made.names[made.count] = "";
            made.gaps[made.count++] = 255;
        }
        made.offsets[made.count] = next;
    }
    return made;
}

/* The index of a table in the making: its parts cut into 1, 2 and 4 pieces. */
#define MADE_PARTS 8u
struct made_index {
    uint32_t shift, parts, firsts, window;
    uint32_t part[MADE_PARTS], first[4 * MADE_PARTS];
};

/* The place of the last start not above (offset), or 0. */
static inline uint32_t made_last(const struct made_entries *made,
                                 uint64_t offset)
{
    uint32_t at = 0;

    while (at + 1 < made->count && made->offsets[at + 1] <= offset)
        ++at;
    return at;
}

static inline struct made_index made_index(const struct made_entries *made)
{
    struct made_index index = {0};

    if (made->count == 0)
        return index;
    while ((made->offsets[made->count] - 1) >> index.shift >= MADE_PARTS)
        ++index.shift;
    index.parts = ((made->offsets[made->count] - 1) >> index.shift) + 1;
    for (uint32_t p = 0; p < index.parts; ++p) {
        uint32_t cut = index.shift >= 2 ? p % 3 : 0;
        uint64_t bytes = 1ull << (index.shift - cut);

        index.part[p] = index.firsts << 5 | (index.shift - cut);
        for (uint32_t i = 0; i < 1u << cut; ++i) {
            uint64_t begin = ((uint64_t)p << index.shift) + i * bytes;
            uint32_t first = made_last(made, begin);
            uint32_t last = made_last(made, begin + bytes - 1);

            index.first[index.firsts++] = first;
            if (last - first + 1 > index.window)
                index.window = last - first + 1;
        }
    }
    return index;
}

static inline void made_put_index(struct made_table *made,
                                  const struct made_index *index)
{
    memcpy(made->parts, index->part, index->parts * sizeof index->part[0]);
    memcpy(made->firsts, index->first, index->firsts * sizeof index->first[0]);
}

static inline void made_put_tokens(struct made_table *made)
{
    uint16_t used = 0;
    char text[16];

    for (unsigned code = 0; code < 256; ++code) {
        size_t bytes = made_text(code, text);

        made->begins[code] = used;
        memcpy(made->texts + used, text, bytes);
        used = (uint16_t)(used + bytes);
    }
    made->begins[256] = used;
}

static inline uint32_t made_token_bytes(void)
{
    uint32_t bytes = 257 * 2;
    char text[16];

    for (unsigned code = 0; code < 256; ++code)
        bytes += (uint32_t)made_text(code, text);
    return bytes;
}

/* The caller frees (.head). */
static inline struct made_table made_any(uint64_t base,
                                         const struct made_function *all,
                                         uint32_t count, bool packed)
{
    struct made_entries entries = made_entries(all, count);
    uint32_t *marks = malloc((entries.count + 1) * sizeof *marks);
    struct made_index index = made_index(&entries);
    struct prof_symtab head = {.count = entries.count,
                               .parts_count = index.parts,
                               .parts_shift = index.shift,
                               .firsts_count = index.firsts,
                               .window = index.window};
    struct made_table made;
    size_t room = 0;
    uint32_t used = 0;
    uint8_t *names;

    for (uint32_t i = 0; i < entries.count; ++i)
        room += strlen(entries.names[i]) + 3;
    names = malloc(room + 1);
    for (uint32_t i = 0; i < entries.count; ++i) {
        marks[i / 16] = i % 16 == 0 ? used : marks[i / 16];
        used +=
            made_name(names + used, i % 16 == 0 ? NULL : entries.names[i - 1],
                      entries.names[i], packed);
    }
    made_plan(&head, base, packed ? made_token_bytes() : 0, used);
    made.head = malloc(head.total_bytes);
    memset(made.head, 0, head.total_bytes);
    *made.head = head;
    made_point(&made, packed);
    memcpy(made.offsets, entries.offsets, (head.count + 1) * sizeof(uint32_t));
    memcpy(made.gaps, entries.gaps, head.count);
    made_put_index(&made, &index);
    memcpy(made.marks, marks, (head.count + 15) / 16 * sizeof(uint32_t));
    memcpy(made.names, names, used);
    if (packed)
        made_put_tokens(&made);
    made_seal(made.head);
    free(entries.offsets);
    free(entries.gaps);
    free(entries.names);
    free(marks);
    free(names);
    return made;
}

static inline struct made_table
made_table(uint64_t base, const struct made_function *all, uint32_t count)
{
    return made_any(base, all, count, false);
}

/*
 *     MADE_BASE + 0x000  first    0x10 bytes, then a gap
 *     MADE_BASE + 0x020  second   0x20 bytes, next to third
 *     MADE_BASE + 0x040  third    0xc0 bytes, next to fourth
 *     MADE_BASE + 0x100  fourth   0x01 byte, then a gap that is entry 4
 *     MADE_BASE + 0x200  last     0x80 bytes, entry 5
 */
static const struct made_function made_of_five[] = {
    {0x000, 0x10, "first"},  {0x020, 0x20, "second"}, {0x040, 0xc0, "third"},
    {0x100, 0x01, "fourth"}, {0x200, 0x80, "last"},
};

static inline struct made_table made_five(void)
{
    return made_any(MADE_BASE, made_of_five, 5, false);
}

/* The same, with its names compressed. */
static inline struct made_table made_five_packed(void)
{
    return made_any(MADE_BASE, made_of_five, 5, true);
}

static inline int made_open(const struct made_table *made)
{
    return prof_symbols_open(made->head, made->head->total_bytes, made_build_id,
                             sizeof made_build_id);
}

/* The name of (symbol), valid until the next call. */
static inline const char *made_name_of(const struct prof_symbol *symbol)
{
    static char name[PROF_SYMTAB_NAME_MAX + 1];

    if (prof_symbol_name(symbol, name, sizeof name) != strlen(name))
        abort();
    return name;
}

#endif
