/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds mutated symbol tables to prof_symbols_open() and asks those that it
 * accepts for names. To be built with clang's libFuzzer, ASan and UBSan.
 *
 * The first byte of the input says which fields are made right, so that the
 * fuzzer gets past the checksum: 1 = magic and version, 2 = total_bytes,
 * 4 = pointer_bits, 8 = checksum, 16 = the five positions. The rest is the
 * table, in memory of exactly its length.
 */

#include <prof/symbols.h>
#include <prof/symtab.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../profiler/src/crc.h"

#define MEND_MAGIC 1u
#define MEND_TOTAL 2u
#define MEND_WIDTH 4u
#define MEND_CRC 8u
#define MEND_PLACES 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void mend_places(struct prof_symtab *head, uint32_t bytes)
{
    uint32_t room = bytes - (uint32_t)sizeof *head;

    head->count %= room / 12 + 1;
    head->offsets_at = sizeof *head;
    head->sizes_at = head->offsets_at + 4 * head->count;
    head->names_at = head->sizes_at + 4 * head->count;
    head->strings_at = head->names_at + 4 * head->count;
    head->strings_bytes = bytes - head->strings_at;
    head->build_id_bytes %= PROF_BUILD_ID_MAX + 1;
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
    if ((what & MEND_CRC) != 0 && head->total_bytes <= bytes) {
        head->crc = 0;
        head->crc = prof_crc32c(0, head, head->total_bytes);
    }
}

static void require(int condition)
{
    if (!condition)
        abort();
}

/* Looks (address) up; what is found must hold it, and its name must end. */
static void look_up(uintptr_t address)
{
    struct prof_symbol found;

    if (!prof_symbol_find(address, &found))
        return;
    require(address >= found.start && address - found.start < found.size);
    require(found.index < prof_symbols_count());
    require(strlen(found.name) < UINT32_MAX);
}

static void look_around(const struct prof_symtab *head)
{
    const uint32_t *offsets = (const uint32_t *)(const void *)head +
                              head->offsets_at / sizeof(uint32_t);
    uintptr_t base = (uintptr_t)head->base;

    for (uint32_t i = 0; i < prof_symbols_count(); ++i) {
        struct prof_symbol found;

        require(prof_symbol_find(base + offsets[i], &found));
        require(found.index == i && found.start == base + offsets[i]);
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
