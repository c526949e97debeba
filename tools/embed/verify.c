/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the second link kept what the table says.
 *
 * The table is made from the first link and sits in the second one. Its bytes
 * must not have moved any code, or every name would be wrong from there on; so
 * all function symbols are compared, not only those chosen for the table. What
 * was embedded must be the very bytes that the second image would give.
 */

#include "embed.h"

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
               "link .prof_symtab behind it",
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
    image_need_build_id(first);
    image_need_build_id(last);
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
    struct table table = table_make(last);

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

void verify_images(const struct image *first, const struct image *last)
{
    if (first->bits != last->bits)
        embed_fail(last->path, "a %u-bit image, but %s has %u bits", last->bits,
                   first->path, first->bits);
    same_functions(first, last);
    same_build(first, last);
    usable_section(last);
    same_table(last);
}
