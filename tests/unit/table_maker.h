/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TABLE_MAKER_H
#define TABLE_MAKER_H

/*
 * Makes symbol tables for the tests, good ones, to be damaged afterwards.
 *
 * A table lies in memory of exactly its length, so that AddressSanitizer sees
 * each byte that is read beyond it. The checksum is computed here a second
 * time, by the definition, so that it also tests the profiler's.
 */

#include <prof/symbols.h>
#include <prof/symtab.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MADE_BASE 0x100000u

struct made_function {
    uint32_t offset;
    uint32_t size;
    const char *name;
};

struct made_table {
    struct prof_symtab *head; /* from malloc() */
    uint32_t *offsets;
    uint32_t *sizes;
    uint32_t *names;
    char *strings;
};

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

static inline struct prof_symtab made_plan(uint64_t base, uint32_t count,
                                           uint32_t strings_bytes)
{
    struct prof_symtab head = {
        .magic = PROF_SYMTAB_MAGIC,
        .version = PROF_SYMTAB_VERSION,
        .base = base,
        .count = count,
        .offsets_at = sizeof head,
        .sizes_at = (uint32_t)sizeof head + 4 * count,
        .names_at = (uint32_t)sizeof head + 8 * count,
        .strings_at = (uint32_t)sizeof head + 12 * count,
        .strings_bytes = strings_bytes,
        .total_bytes = (uint32_t)sizeof head + 12 * count + strings_bytes,
        .pointer_bits = 8 * sizeof(void *),
        .build_id_bytes = sizeof made_build_id,
    };

    memcpy(head.build_id, made_build_id, sizeof made_build_id);
    return head;
}

/* The caller frees (.head). */
static inline struct made_table
made_table(uint64_t base, const struct made_function *all, uint32_t count)
{
    uint32_t strings = 0, used = 0;
    struct prof_symtab plan;
    struct made_table made;

    for (uint32_t i = 0; i < count; ++i)
        strings += (uint32_t)strlen(all[i].name) + 1;
    plan = made_plan(base, count, strings);
    made.head = malloc(plan.total_bytes);
    memcpy(made.head, &plan, sizeof plan);
    made.offsets = (uint32_t *)(void *)(made.head + 1);
    made.sizes = made.offsets + count;
    made.names = made.sizes + count;
    made.strings = (char *)(made.names + count);
    for (uint32_t i = 0; i < count; ++i) {
        made.offsets[i] = all[i].offset;
        made.sizes[i] = all[i].size;
        made.names[i] = used;
        strcpy(made.strings + used, all[i].name);
        used += (uint32_t)strlen(all[i].name) + 1;
    }
    made_seal(made.head);
    return made;
}

/*
 *     MADE_BASE + 0x000  first    0x10 bytes, then a gap
 *     MADE_BASE + 0x020  second   0x20 bytes, next to third
 *     MADE_BASE + 0x040  third    size unknown: reaches to fourth
 *     MADE_BASE + 0x100  fourth   0x01 byte, then a gap
 *     MADE_BASE + 0x200  last     0x80 bytes
 */
static const struct made_function made_of_five[] = {
    {0x000, 0x10, "first"},  {0x020, 0x20, "second"}, {0x040, 0x00, "third"},
    {0x100, 0x01, "fourth"}, {0x200, 0x80, "last"},
};

static inline struct made_table made_five(void)
{
    return made_table(MADE_BASE, made_of_five, 5);
}

static inline int made_open(const struct made_table *made)
{
    return prof_symbols_open(made->head, made->head->total_bytes, made_build_id,
                             sizeof made_build_id);
}

#endif
