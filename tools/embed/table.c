/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of <prof/symtab.h>, little-endian whatever this host is.
 *
 * The strings are padded with NULs to a multiple of eight bytes, which keeps
 * the section that follows aligned. The checksum is computed here bit by bit
 * and with no code of the guest's, so that each checks the other.
 */

#include "embed.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint32_t crc32c(const uint8_t *bytes, size_t count)
{
    uint32_t crc = 0xffffffffu;

    for (size_t i = 0; i < count; ++i) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0x82f63b78u : 0u);
    }
    return ~crc;
}

static uint64_t strings_bytes(const struct functions *functions)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < functions->count; ++i)
        bytes += strlen(functions->at[i].name) + 1;
    return (bytes + 7) / 8 * 8;
}

/* Offsets have 32 bits; the whole image has to lie within their reach. */
static void need_reach(const struct image *image, const struct functions *all)
{
    const struct function *first = &all->at[0];
    const struct function *last = &all->at[all->count - 1];

    if (last->start - first->start + last->size > UINT32_MAX)
        embed_fail(image->path,
                   "%s at 0x%" PRIx64 " and %s at 0x%" PRIx64
                   " are 4 GiB or more apart: link the code closer together",
                   first->name, first->start, last->name, last->start);
}

static void put(uint8_t *array, size_t index, uint64_t value)
{
    uint32_t word = htole32((uint32_t)value);

    memcpy(array + index * sizeof word, &word, sizeof word);
}

static void put_functions(uint8_t *bytes, const struct prof_symtab *head,
                          const struct functions *functions)
{
    char *strings = (char *)bytes + head->strings_at;
    size_t used = 0;

    for (size_t i = 0; i < functions->count; ++i) {
        const struct function *f = &functions->at[i];
        size_t length = strlen(f->name) + 1;

        put(bytes + head->offsets_at, i, f->start - head->base);
        put(bytes + head->sizes_at, i, f->size);
        put(bytes + head->names_at, i, used);
        memcpy(strings + used, f->name, length);
        used += length;
    }
}

static void put_head(uint8_t *bytes, const struct prof_symtab *head)
{
    struct prof_symtab out = {
        .magic = htole32(head->magic),
        .version = htole32(head->version),
        .total_bytes = htole32(head->total_bytes),
        .crc = htole32(head->crc),
        .base = htole64(head->base),
        .count = htole32(head->count),
        .offsets_at = htole32(head->offsets_at),
        .sizes_at = htole32(head->sizes_at),
        .names_at = htole32(head->names_at),
        .strings_at = htole32(head->strings_at),
        .strings_bytes = htole32(head->strings_bytes),
        .pointer_bits = htole32(head->pointer_bits),
        .build_id_bytes = htole32(head->build_id_bytes),
    };

    memcpy(out.build_id, head->build_id, sizeof out.build_id);
    memcpy(bytes, &out, sizeof out);
}

/* Everything in the header but the checksum. */
static struct prof_symtab plan(const struct image *image,
                               const struct functions *functions)
{
    uint64_t strings = strings_bytes(functions);
    uint64_t array = functions->count * (uint64_t)sizeof(uint32_t);
    uint64_t total = sizeof(struct prof_symtab) + 3 * array + strings;
    struct prof_symtab head = {
        .magic = PROF_SYMTAB_MAGIC,
        .version = PROF_SYMTAB_VERSION,
        .base = functions->at[0].start,
        .count = (uint32_t)functions->count,
        .strings_bytes = (uint32_t)strings,
        .pointer_bits = image->bits,
        .build_id_bytes = image->build_id_bytes,
    };

    if (total > UINT32_MAX)
        embed_fail(image->path, "the names of %zu functions fill 4 GiB or more",
                   functions->count);
    head.offsets_at = sizeof head;
    head.sizes_at = (uint32_t)(head.offsets_at + array);
    head.names_at = (uint32_t)(head.sizes_at + array);
    head.strings_at = (uint32_t)(head.names_at + array);
    head.total_bytes = (uint32_t)total;
    memcpy(head.build_id, image->build_id, sizeof head.build_id);
    return head;
}

struct table table_make(const struct image *image)
{
    struct functions functions = select_functions(&image->symbols);
    struct prof_symtab head;
    struct table table;

    image_need_symbols(image);
    need_reach(image, &functions);
    image_need_build_id(image);
    head = plan(image, &functions);
    table.count = head.total_bytes;
    table.bytes = embed_alloc(1, table.count);
    put_functions(table.bytes, &head, &functions);
    put_head(table.bytes, &head);
    head.crc = crc32c(table.bytes, table.count);
    put_head(table.bytes, &head);
    free(functions.at);
    return table;
}
