/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds mutated symbol tables to prof_symbols_open() and asks those that it
 * accepts for names.
 *
 * The first byte of the input says which fields are made right, so that the
 * fuzzer gets past the checksum: 1 = magic and version, 2 = total_bytes,
 * 4 = pointer_bits, 8 = checksum, 16 = the positions, 32 = the marks, 64 = the
 * index. The rest is the table, in memory of exactly its length.
 */

#include "fuzz.h"

#include <prof/symbols.h>
#include <prof/symtab.h>
#include <stdbool.h>

#include "base/crc.h"

#define MEND_MAGIC 1u
#define MEND_TOTAL 2u
#define MEND_WIDTH 4u
#define MEND_CRC 8u
#define MEND_PLACES 16u
#define MEND_MARKS 32u
#define MEND_INDEX 64u

static uint32_t place(uint32_t *end, uint32_t bytes)
{
    uint32_t at = (*end + 3) & ~3u;

    *end = at + bytes;
    return at;
}

/* At most as many entries as there is room for, with or without tokens. */
static void mend_places(struct prof_symtab *head, uint32_t bytes)
{
    uint32_t room = bytes - (uint32_t)sizeof *head;
    uint32_t end = sizeof *head;

    if (room < 128)
        return;
    head->tokens_bytes %= room / 2;
    head->count %= (room / 2 - 48) / 6;
    head->offsets_at = place(&end, 4 * head->count + 4);
    head->gaps_at = place(&end, head->count);
    head->parts_at = place(&end, 8);
    head->firsts_at = place(&end, 8);
    head->marks_at = place(&end, (head->count + 15) / 16 * 4);
    head->tokens_at = place(&end, head->tokens_bytes);
    head->names_at = place(&end, 0);
    if (head->names_bytes > bytes - end)
        head->names_bytes = bytes - end;
    head->build_id_bytes %= PROF_BUILD_ID_MAX + 1;
}

/* Makes the marks right for as many names as lie within the table. */
static void mend_marks(struct prof_symtab *head, uint32_t bytes)
{
    const struct prof_symtab was = *head; /* the marks may lie in it */
    uint8_t *table = (uint8_t *)head;
    uint32_t at = 0;

    if (was.names_at > bytes || was.names_bytes > bytes - was.names_at ||
        was.marks_at > bytes)
        return;
    for (uint32_t i = 0; i < was.count && at + 3 < was.names_bytes; ++i) {
        const uint8_t *name = table + was.names_at + at;
        uint32_t length = name[1];

        if (i / 16 * 4 + 4 > bytes - was.marks_at)
            return;
        if (i % 16 == 0)
            memcpy(table + was.marks_at + i / 4, &at, sizeof at);
        if (length >= 0x80)
            length = (length & 0x7f) << 8 | name[2];
        at += length + (name[1] >= 0x80 ? 3 : 2);
    }
}

/* One part or two of 2 GiB, each of which is searched whole. */
static void mend_index(struct prof_symtab *head, uint32_t bytes)
{
    static const uint32_t parts[2] = {31, 1u << 5 | 31}, firsts[2] = {0, 0};
    const struct prof_symtab was = *head; /* the index may lie in it */
    uint8_t *table = (uint8_t *)head;
    uint32_t end;

    if (head->parts_at > bytes || bytes - head->parts_at < sizeof parts ||
        head->firsts_at > bytes || bytes - head->firsts_at < sizeof firsts ||
        head->offsets_at > bytes || head->count >= bytes / 4 ||
        bytes - head->offsets_at < 4 * head->count + 4)
        return;
    memcpy(&end, table + head->offsets_at + 4 * head->count, sizeof end);
    head->parts_shift = 31;
    head->parts_count = ((end - 1) >> 31) + 1;
    head->firsts_count = head->parts_count;
    head->window = head->count;
    memcpy(table + was.parts_at, parts, sizeof parts);
    memcpy(table + was.firsts_at, firsts, sizeof firsts);
}

static void mend(struct prof_symtab *head, uint32_t bytes, unsigned what)
{
    if (bytes < sizeof *head)
        return;
    if ((what & MEND_MAGIC) != 0) {
        head->magic = PROF_SYMTAB_MAGIC;
        head->version = PROF_SYMTAB_VERSION;
    }
    if ((what & MEND_TOTAL) != 0)
        head->total_bytes = bytes;
    if ((what & MEND_WIDTH) != 0)
        head->pointer_bits = 8 * sizeof(void *);
    if ((what & MEND_PLACES) != 0)
        mend_places(head, bytes);
    if ((what & MEND_MARKS) != 0)
        mend_marks(head, bytes);
    if ((what & MEND_INDEX) != 0)
        mend_index(head, bytes);
    if ((what & MEND_CRC) != 0 && head->total_bytes <= bytes) {
        head->crc = 0;
        head->crc = prof_crc32c(0, head, head->total_bytes);
    }
}

/* A name's length is the same in any room, and it is not written beyond. */
static void look_at_name(const struct prof_symbol *symbol)
{
    size_t bytes = prof_symbol_name(symbol, NULL, 0);
    char *name = malloc(bytes + 1), *half = malloc(bytes / 2 + 1);

    require(bytes > 0 && bytes <= PROF_SYMTAB_NAME_MAX);
    require(prof_symbol_name(symbol, name, bytes + 1) == bytes);
    require(strlen(name) == bytes);
    require(prof_symbol_name(symbol, half, bytes / 2 + 1) == bytes);
    require(memcmp(name, half, bytes / 2) == 0 && half[bytes / 2] == '\0');
    free(name);
    free(half);
}

/* Looks (address) up; what is found must hold it, and its name must end. */
static void look_up(uintptr_t address)
{
    struct prof_symbol found;

    if (!prof_symbol_find(address, &found))
        return;
    require(address >= found.start && address - found.start < found.size);
    require(found.index < prof_symbols_count());
    look_at_name(&found);
}

static void look_around(const struct prof_symtab *head)
{
    const uint8_t *table = (const uint8_t *)head;
    uintptr_t base = (uintptr_t)head->base;

    for (uint32_t i = 0; i < prof_symbols_count(); ++i) {
        bool hole = table[head->gaps_at + i] == PROF_SYMTAB_HOLE;
        struct prof_symbol found;
        uint32_t offset;

        memcpy(&offset, table + head->offsets_at + 4 * i, sizeof offset);
        require(prof_symbol_find(base + offset, &found) != hole);
        if (hole)
            continue;
        require(found.index == i && found.start == base + offset);
        look_up(found.start - 1);
        look_up(found.start + found.size - 1);
        look_up(found.start + found.size);
    }
    look_up(0);
    look_up(UINTPTR_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct prof_symtab *table;

    if (bytes < 2)
        return 0;
    --bytes;
    table = malloc(bytes);
    memcpy(table, data + 1, bytes);
    mend(table, (uint32_t)bytes, data[0]);
    if (prof_symbols_open(table, bytes, NULL, 0) == 0)
        look_around(table);
    else
        require(prof_symbols_count() == 0);
    prof_symbols_open(NULL, 0, NULL, 0);
    free(table);
    return 0;
}
