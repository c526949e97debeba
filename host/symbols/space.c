/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the space for a symbol table without sections and symbols, which an
 * image may have lost: by its magic, in the loaded parts of the file.
 *
 * The bytes of the magic alone prove nothing, for one image may contain another
 * as data. The structure holds its own address, which must be the one where it
 * is loaded. 64-bit code in a 32-bit file (what multiboot loaders want) has
 * addresses there without their upper half.
 */

#define _GNU_SOURCE /* memmem() */

#include "symbols/space.h"

#include <endian.h>
#include <gelf.h>
#include <prof/symtab.h>
#include <string.h>

#define BITS_AT PROF_SYMBOLS_SPACE_MAGIC_BYTES
#define BYTES_AT (BITS_AT + 4)
#define SELF_AT (BITS_AT + 8)
#define HEAD_BYTES(bits) (SELF_AT + 2 * (bits) / 8)

struct loaded {
    const uint8_t *bytes;
    uint64_t at;
    uint64_t count;
    uint64_t address;
};

struct found {
    enum space_result result;
    struct space space;
};

/* The loaded part (index) of (elf), as far as it is in the file. */
static bool part_of(Elf *elf, size_t index, struct loaded *part)
{
    GElf_Phdr header;
    size_t file_bytes;
    const char *file = elf_rawfile(elf, &file_bytes);

    if (file == NULL || gelf_getphdr(elf, (int)index, &header) == NULL ||
        header.p_type != PT_LOAD || header.p_offset > file_bytes)
        return false;
    *part = (struct loaded){
        .bytes = (const uint8_t *)file + header.p_offset,
        .at = header.p_offset,
        .count = header.p_filesz,
        .address = header.p_vaddr,
    };
    if (part->count > file_bytes - part->at)
        part->count = file_bytes - part->at;
    return true;
}

static uint64_t word_at(const uint8_t *from, unsigned bits)
{
    uint64_t word = 0;

    memcpy(&word, from, bits / 8);
    return le64toh(word);
}

size_t space_headers(Elf *elf)
{
    size_t count = 0, bytes = 0;

    if (elf_getphdrnum(elf, &count) != 0 || elf_rawfile(elf, &bytes) == NULL)
        return 0;
    bytes /= gelf_fsize(elf, ELF_T_PHDR, 1, EV_CURRENT);
    return count < bytes ? count : bytes;
}

bool space_place(Elf *elf, uint64_t address, uint64_t bytes, uint64_t *at)
{
    struct loaded part;
    size_t count = space_headers(elf);

    for (size_t i = 0; i < count; ++i) {
        if (!part_of(elf, i, &part) || address < part.address)
            continue;
        if (address - part.address <= part.count &&
            bytes <= part.count - (address - part.address)) {
            *at = part.at + (address - part.address);
            return true;
        }
    }
    return false;
}

/* What the structure at (from), loaded to (address), says if it is one. */
static enum space_result read_head(Elf *elf, const uint8_t *from, size_t count,
                                   uint64_t address, struct space *space)
{
    bool narrow = gelf_getclass(elf) == ELFCLASS32;
    uint64_t self, table, mask = narrow ? UINT32_MAX : UINT64_MAX;
    unsigned bits;

    if (count < HEAD_BYTES(32))
        return SPACE_NONE;
    bits = (unsigned)word_at(from + BITS_AT, 32);
    if ((bits != 32 && bits != 64) || count < HEAD_BYTES(bits))
        return SPACE_NONE;
    self = word_at(from + SELF_AT, bits);
    table = word_at(from + SELF_AT + bits / 8, bits);
    if (self == 0 && table == 0)
        return SPACE_RELATIVE;
    if ((self & mask) != address)
        return SPACE_NONE;
    *space = (struct space){
        .address = table,
        .bytes = (uint32_t)word_at(from + BYTES_AT, 32),
        .bits = bits,
        .high_half = self & ~mask,
    };
    return space_place(elf, table & mask, space->bytes, &space->at)
               ? SPACE_FOUND
               : SPACE_OUTSIDE;
}

static void add_space(struct found *found, enum space_result result,
                      const struct space *space)
{
    if (result == SPACE_NONE ||
        (result == SPACE_RELATIVE && found->result != SPACE_NONE))
        return;
    if (found->result == SPACE_NONE || found->result == SPACE_RELATIVE)
        *found = (struct found){result, *space};
    else if (memcmp(space, &found->space, sizeof *space) != 0)
        found->result = SPACE_SEVERAL; /* and not one that is loaded twice */
}

static void find_in(Elf *elf, const struct loaded *part, struct found *found)
{
    static const char magic[BITS_AT] = PROF_SYMBOLS_SPACE_MAGIC;
    const uint8_t *from = part->bytes, *end = from + part->count;

    while ((from = memmem(from, (size_t)(end - from), magic, sizeof magic)) !=
           NULL) {
        uint64_t address = part->address + (uint64_t)(from - part->bytes);
        struct space space;

        memset(&space, 0, sizeof space);
        add_space(found,
                  read_head(elf, from, (size_t)(end - from), address, &space),
                  &space);
        from += sizeof magic;
    }
}

enum space_result space_find(Elf *elf, struct space *space)
{
    struct found found = {SPACE_NONE, {0}};
    struct loaded part;
    size_t count = space_headers(elf);

    for (size_t i = 0; i < count; ++i) {
        if (part_of(elf, i, &part))
            find_in(elf, &part, &found);
    }
    *space = found.space;
    return found.result;
}
