/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the second link kept what the table describes.
 *
 * The table is made from the first link and is part of the second one. Its
 * bytes must not have moved any code, or every name after it would be wrong; so
 * all function symbols are compared, not only those in the table. The embedded
 * bytes must be those that the second image would give. And they are decoded
 * here independently, as <prof/symtab.h> describes, and must give each
 * function, so that an error in writing them cannot stay hidden.
 */

#include "embed.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void same_function(const struct image *first, const struct image *last,
                          size_t index)
{
    const struct function *a = &first->symbols.at[index];
    const struct function *b = &last->symbols.at[index];

    if (a->start == b->start && a->size == b->size &&
        strcmp(a->name, b->name) == 0)
        return;
    embed_fail(last->path,
               "%s (0x%" PRIx64 ", %" PRIu64 " bytes) stands where %s has "
               "%s (0x%" PRIx64 ", %" PRIu64 " bytes): code has moved, "
               "link .prof_symtab after it",
               b->name, b->start, b->size, first->path, a->name, a->start,
               a->size);
}

static void same_functions(const struct image *first, const struct image *last)
{
    size_t a = first->symbols.count, b = last->symbols.count;

    for (size_t i = 0; i < a && i < b; ++i)
        same_function(first, last, i);
    if (a != b)
        embed_fail(last->path, "%zu function symbols, but %zu in %s", b, a,
                   first->path);
}

static void same_build(const struct image *first, const struct image *last)
{
    embed_need_build_id(first);
    embed_need_build_id(last);
    if (first->build_id_bytes != last->build_id_bytes ||
        memcmp(first->build_id, last->build_id, first->build_id_bytes) != 0)
        embed_fail(last->path,
                   "another build-id than %s: link it with "
                   "--build-id=0x$(embed --build-id %s)",
                   first->path, first->path);
}

static void usable_section(const struct image *last)
{
    if (last->table == NULL)
        embed_fail(last->path, "no table in section .prof_symtab");
    if (!last->table_loaded)
        embed_fail(last->path, "section .prof_symtab is not loaded: "
                               "it needs the flag \"alloc\"");
    if (last->table_address % 8 != 0)
        embed_fail(last->path,
                   "section .prof_symtab lies at 0x%" PRIx64
                   ": align it to 8 bytes",
                   last->table_address);
}

/* The section may be longer than the table, but only by zeros. */
static void same_table(const struct image *last)
{
    struct table table = table_make(last, NAMES_AS_PAYS);

    if (last->table_bytes < table.count ||
        memcmp(last->table, table.bytes, table.count) != 0)
        embed_fail(last->path, "the embedded table is not the one made from "
                               "this image: build it again");
    for (size_t i = table.count; i < last->table_bytes; ++i) {
        if (last->table[i] != 0)
            embed_fail(last->path, "section .prof_symtab holds more than "
                                   "the table");
    }
    free(table.bytes);
}

static uint32_t word_at(const uint8_t *table, size_t at)
{
    uint32_t word;

    memcpy(&word, table + at, sizeof word);
    return le32toh(word);
}

/* Writes the text of (code) to (name); returns its length. */
static size_t put_code(const uint8_t *table, uint8_t code, char *name)
{
    uint32_t tokens = word_at(table, offsetof(struct prof_symtab, tokens_at));
    const uint8_t *texts =
        table + tokens + (PROF_SYMTAB_CODES + 1) * sizeof(uint16_t);
    uint16_t begin[2];

    if (word_at(table, offsetof(struct prof_symtab, tokens_bytes)) == 0) {
        *name = (char)code;
        return 1;
    }
    memcpy(begin, table + tokens + code * sizeof *begin, sizeof begin);
    begin[0] = le16toh(begin[0]);
    begin[1] = le16toh(begin[1]);
    memcpy(name, texts + begin[0], (size_t)(begin[1] - begin[0]));
    return (size_t)(begin[1] - begin[0]);
}

/* Decodes the name at (at) into (name), which has the previous name; returns
 * where it ends. */
static const uint8_t *read_name(const uint8_t *table, const uint8_t *at,
                                char *name)
{
    size_t used = at[0];
    uint32_t codes = at[1];

    at += 2;
    if (codes >= 128)
        codes = (codes - 128) * 256 + *at++;
    for (; codes > 0; --codes)
        used += put_code(table, *at++, name + used);
    name[used] = '\0';
    return at;
}

/* Names too long for a table end with dots there. */
static bool same_name(const char *name, const char *in_table)
{
    if (strlen(name) <= PROF_SYMTAB_NAME_MAX)
        return strcmp(name, in_table) == 0;
    return strncmp(name, in_table, PROF_SYMTAB_NAME_MAX - 3) == 0;
}

void verify_table(const struct image *last, const uint8_t *table)
{
    static char name[2 * PROF_SYMTAB_NAME_MAX];
    struct functions wanted = select_functions(&last->symbols);
    const uint8_t *at =
        table + word_at(table, offsetof(struct prof_symtab, names_at));
    uint32_t offsets = word_at(table, offsetof(struct prof_symtab, offsets_at));
    size_t entry = 0;

    for (size_t i = 0; i < wanted.count; ++i) {
        const struct function *f = &wanted.at[i];

        do {
            at = read_name(table, at, name);
            ++entry;
        } while (name[0] == '\0');
        if (!same_name(f->name, name) ||
            wanted.at[0].start + word_at(table, offsets + 4 * entry - 4) !=
                f->start)
            embed_fail(last->path, "its table has %s where %s should stand",
                       name, f->name);
    }
    free(wanted.at);
}

void verify_images(const struct image *first, const struct image *last)
{
    if (first->bits != last->bits)
        embed_fail(last->path, "a %u-bit image, but %s has %u bits", last->bits,
                   first->path, first->bits);
    same_functions(first, last);
    same_build(first, last);
    usable_section(last);
    same_table(last);
    verify_table(last, last->table);
}
