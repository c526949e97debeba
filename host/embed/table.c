/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of <prof/symtab.h>, little-endian on any host.
 *
 * The names are compressed if that makes the table smaller by a page (4 KiB) or
 * more: memory comes in pages, so less would save nothing. Packed names take
 * about as long to read as raw ones (docs/measurements.md).
 *
 * The end is padded with zeros to a multiple of eight bytes, which keeps the
 * next section aligned. The checksum is computed here bit by bit, independently
 * of the guest's code, so that each verifies the other.
 */

#include "embed/embed.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_BYTES 4096u

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

/* The functions and the wide gaps between them, in the table's order. */
struct entries {
    size_t count;
    uint64_t base;     /* what offsets count from */
    uint32_t *offsets; /* one more than there are entries, little-endian */
    uint8_t *gaps;
    const char **names;
    struct lookup index; /* over the offsets */
};

static void put_entry(struct entries *entries, const char *name, uint64_t gap,
                      uint64_t end)
{
    entries->names[entries->count] = name;
    entries->gaps[entries->count] = (uint8_t)gap;
    entries->offsets[++entries->count] = htole32((uint32_t)end);
}

static struct entries entries_of(const struct functions *functions)
{
    size_t most = 2 * functions->count;
    uint64_t base = functions->at[0].start;
    struct entries entries = {
        .base = base,
        .offsets = embed_alloc(most + 1, sizeof *entries.offsets),
        .gaps = embed_alloc(most, sizeof *entries.gaps),
        .names = embed_alloc(most, sizeof *entries.names),
    };

    for (size_t i = 0; i < functions->count; ++i) {
        const struct function *f = &functions->at[i];
        uint64_t end = f->start + f->size;
        uint64_t next = i + 1 < functions->count ? f[1].start : end;

        if (next - end < PROF_SYMTAB_HOLE) {
            put_entry(&entries, f->name, next - end, next - base);
        } else {
            put_entry(&entries, f->name, 0, end - base);
            put_entry(&entries, "", PROF_SYMTAB_HOLE, next - base);
        }
    }
    entries.index = lookup_make(entries.offsets, entries.count);
    return entries;
}

static void entries_free(struct entries *entries)
{
    free(entries->offsets);
    free(entries->gaps);
    free(entries->names);
    lookup_free(&entries->index);
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
        .gaps_at = htole32(head->gaps_at),
        .parts_at = htole32(head->parts_at),
        .parts_count = htole32(head->parts_count),
        .parts_shift = htole32(head->parts_shift),
        .firsts_at = htole32(head->firsts_at),
        .firsts_count = htole32(head->firsts_count),
        .window = htole32(head->window),
        .marks_at = htole32(head->marks_at),
        .tokens_at = htole32(head->tokens_at),
        .tokens_bytes = htole32(head->tokens_bytes),
        .names_at = htole32(head->names_at),
        .names_bytes = htole32(head->names_bytes),
        .pointer_bits = htole32(head->pointer_bits),
        .build_id_bytes = htole32(head->build_id_bytes),
    };

    memcpy(out.build_id, head->build_id, sizeof out.build_id);
    memcpy(bytes, &out, sizeof out);
}

/* Reserves (bytes) bytes at (*end); returns their offset. */
static uint32_t reserve_bytes(uint64_t *end, uint64_t bytes)
{
    uint64_t at = (*end + 3) / 4 * 4;

    *end = at + bytes;
    return (uint32_t)at;
}

static uint64_t mark_bytes(const struct entries *entries)
{
    return (entries->count + PROF_SYMTAB_BLOCK - 1) / PROF_SYMTAB_BLOCK *
           sizeof(uint32_t);
}

/* The whole header except the checksum. */
static struct prof_symtab plan_head(const struct image *image,
                                    const struct entries *entries,
                                    const struct names *names)
{
    uint64_t end = sizeof(struct prof_symtab), count = entries->count;
    const struct lookup *index = &entries->index;
    struct prof_symtab head = {
        .magic = PROF_SYMTAB_MAGIC,
        .version = PROF_SYMTAB_VERSION,
        .base = entries->base,
        .count = (uint32_t)count,
        .parts_count = (uint32_t)index->parts_count,
        .parts_shift = index->shift,
        .firsts_count = (uint32_t)index->firsts_count,
        .window = index->window,
        .tokens_bytes = (uint32_t)names->tokens_bytes,
        .names_bytes = (uint32_t)names->count,
        .pointer_bits = image->bits,
        .build_id_bytes = image->build_id_bytes,
    };

    head.offsets_at =
        reserve_bytes(&end, (count + 1) * sizeof *entries->offsets);
    head.gaps_at = reserve_bytes(&end, count);
    head.parts_at =
        reserve_bytes(&end, index->parts_count * sizeof *index->parts);
    head.firsts_at =
        reserve_bytes(&end, index->firsts_count * sizeof *index->firsts);
    head.marks_at = reserve_bytes(&end, mark_bytes(entries));
    head.tokens_at = reserve_bytes(&end, names->tokens_bytes);
    head.names_at = reserve_bytes(&end, names->count);
    end = (end + 7) / 8 * 8;
    if (end > UINT32_MAX)
        embed_fail(image->path, "the names of %zu functions fill 4 GiB or more",
                   image->symbols.count);
    head.total_bytes = (uint32_t)end;
    memcpy(head.build_id, image->build_id, sizeof head.build_id);
    return head;
}

static struct table put_table(const struct image *image,
                              const struct entries *entries,
                              const struct names *names)
{
    struct prof_symtab head = plan_head(image, entries, names);
    struct table table = {embed_alloc(1, head.total_bytes), head.total_bytes};
    uint8_t *bytes = table.bytes;

    memcpy(bytes + head.offsets_at, entries->offsets,
           (entries->count + 1) * sizeof *entries->offsets);
    memcpy(bytes + head.gaps_at, entries->gaps, entries->count);
    memcpy(bytes + head.parts_at, entries->index.parts,
           head.parts_count * sizeof *entries->index.parts);
    memcpy(bytes + head.firsts_at, entries->index.firsts,
           head.firsts_count * sizeof *entries->index.firsts);
    memcpy(bytes + head.marks_at, names->marks, mark_bytes(entries));
    if (names->tokens != NULL)
        memcpy(bytes + head.tokens_at, names->tokens, names->tokens_bytes);
    memcpy(bytes + head.names_at, names->bytes, names->count);
    put_head(bytes, &head);
    head.crc = crc32c(bytes, table.count);
    put_head(bytes, &head);
    return table;
}

static struct table make_table(const struct image *image,
                               const struct entries *entries, bool packed)
{
    struct names names = names_make(entries->names, entries->count, packed);
    struct table table = put_table(image, entries, &names);

    names_free(&names);
    return table;
}

/* Makes both tables and keeps the better one. */
static struct table make_better(const struct image *image,
                                const struct entries *entries)
{
    struct table raw = make_table(image, entries, false);
    struct table packed = make_table(image, entries, true);
    bool pays = packed.count + WORTH_BYTES <= raw.count;

    free(pays ? raw.bytes : packed.bytes);
    return pays ? packed : raw;
}

struct table table_make(const struct image *image, enum names_form form)
{
    struct functions functions = select_functions(&image->symbols);
    struct entries entries;
    struct table table;

    embed_need_symbols(image);
    if (functions.count == 0)
        embed_fail(image->path, "its only functions are 4 GiB or longer");
    embed_need_build_id(image);
    entries = entries_of(&functions);
    table = form == NAMES_AS_PAYS
                ? make_better(image, &entries)
                : make_table(image, &entries, form == NAMES_PACKED);
    entries_free(&entries);
    free(functions.at);
    return table;
}
