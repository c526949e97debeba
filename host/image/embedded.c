/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's own reader (profiler/symbols) checks the table and expands its
 * names. It takes tables of its own width only, so a copy of one for i386 says
 * 64 once its checksum has been verified; nothing else in it has a width.
 */

#include "image/embedded.h"

#include "base/crc32c.h"
#include "base/memory.h"
#include "symbols/space.h"

#include <endian.h>
#include <prof/error.h>
#include <prof/symbols.h>
#include <stdlib.h>
#include <string.h>

/* The space in (elf) and the head of its table; false if there is none. */
static bool find_head(Elf *elf, struct space *space, struct prof_symtab *head)
{
    size_t file_bytes;
    const char *file = elf_rawfile(elf, &file_bytes);

    if (space_find(elf, space) != SPACE_FOUND || space->bytes < sizeof *head)
        return false;
    memcpy(head, file + space->at, sizeof *head);
    return le32toh(head->magic) == PROF_SYMTAB_MAGIC &&
           le32toh(head->version) == PROF_SYMTAB_VERSION;
}

void embedded_read_id(struct image *image, Elf *elf)
{
    struct prof_symtab head;
    struct space space;

    if (!find_head(elf, &space, &head) ||
        le32toh(head.build_id_bytes) > sizeof image->build_id)
        return;
    image->build_id_bytes = le32toh(head.build_id_bytes);
    memcpy(image->build_id, head.build_id, image->build_id_bytes);
}

/* The checksum of a table with a zero in its place. */
static uint32_t checksum(struct prof_symtab *table, uint32_t bytes)
{
    table->crc = 0;
    return crc32c(0, table, bytes);
}

/* Makes a table of the other width one of ours; false if it is damaged. */
static bool widen(struct prof_symtab *table, uint32_t room)
{
    uint32_t bytes = table->total_bytes, crc = table->crc;

    if (table->pointer_bits != 32)
        return true;
    if (bytes < sizeof *table || bytes > room || checksum(table, bytes) != crc)
        return false;
    table->pointer_bits = 8 * sizeof(void *);
    table->crc = checksum(table, bytes);
    return true;
}

static void put_function(struct image *image, uint64_t start, uint64_t end,
                         uint32_t entry)
{
    static char name[PROF_SYMTAB_NAME_MAX + 1];
    struct prof_symbol symbol = {.index = entry};

    prof_symbol_name(&symbol, name, sizeof name);
    vector_reserve_one(&image->functions, image->count,
                       sizeof *image->functions);
    image->functions[image->count++] =
        (struct image_symbol){start, end, xstrdup(name)};
}

void embedded_read(struct image *image, Elf *elf)
{
    size_t file_bytes;
    const char *file = elf_rawfile(elf, &file_bytes);
    struct prof_symtab head, *table;
    struct space space;
    const uint32_t *offsets;
    const uint8_t *gaps;

    if (!find_head(elf, &space, &head))
        return;
    table = xreallocarray(NULL, space.bytes, 1);
    memcpy(table, file + space.at, space.bytes);
    if (!widen(table, space.bytes) ||
        prof_symbols_open(table, space.bytes, NULL, 0) != PROF_OK) {
        free(table);
        return;
    }
    offsets = (const void *)((const uint8_t *)table + table->offsets_at);
    gaps = (const uint8_t *)table + table->gaps_at;
    for (uint32_t i = 0; i < prof_symbols_count(); ++i) {
        if (gaps[i] != PROF_SYMTAB_HOLE)
            put_function(image, table->base + offsets[i],
                         table->base + offsets[i + 1] - gaps[i], i);
    }
    prof_symbols_open(NULL, 0, NULL, 0);
    free(table);
}
