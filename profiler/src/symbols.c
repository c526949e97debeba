/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image's own symbol table: tested once, then only searched.
 *
 * prof_symbols_open() looks at every number in the table before the first
 * lookup relies on one, in the order in which they can be trusted: its length,
 * what it is, the checksum, where the arrays lie, and then the arrays. A lookup
 * has no test left to do, which is what makes it safe in a panic.
 *
 * The checksum finds accidents (a bad copy, a half-written file); the tests
 * after it find tables that were made wrong and have a good checksum.
 *
 * One reader may interrupt us at any instruction, an NMI that wants a name.
 * It sees no table while another one is being tested, never half of one.
 */

#include <prof/error.h>
#include <prof/symbols.h>
#include <prof/symtab.h>

#include "crc.h"

#define POINTER_BITS ((uint32_t)(8 * sizeof(uintptr_t)))
/* What the host aligns a table to. */
#define TABLE_ALIGN 8u

_Static_assert(sizeof(struct prof_symtab) == 88, "laid out as the host does");

/* The table in use. Written by prof_symbols_open() only. */
static struct {
    const uint32_t *offsets; /* starts minus base, strictly rising */
    const uint32_t *sizes;   /* bytes, 0 = to the next start */
    const uint32_t *names;   /* byte offsets in strings */
    const char *strings;
    uintptr_t base;
    uint32_t count;          /* 0 = there is none; lettered accesses only */
    int error;               /* what the last prof_symbols_open() returned */
} table = {.error = PROF_ESYM_NONE};

static const uint32_t *words_at(const struct prof_symtab *head, uint32_t at)
{
    return (const uint32_t *)(const void *)((const uint8_t *)head + at);
}

static int test_head(const struct prof_symtab *head, size_t bytes)
{
    if (head == NULL || bytes == 0)
        return PROF_ESYM_NONE;
    if (bytes < sizeof *head)
        return PROF_ESYM_SHORT;
    if ((uintptr_t)head % TABLE_ALIGN != 0)
        return PROF_ESYM_LAYOUT;
    if (head->magic != PROF_SYMTAB_MAGIC ||
        head->version != PROF_SYMTAB_VERSION)
        return PROF_ESYM_MAGIC;
    if (head->total_bytes > bytes)
        return PROF_ESYM_SHORT;
    if (head->total_bytes < sizeof *head)
        return PROF_ESYM_LAYOUT;
    return PROF_OK;
}

/* The field that holds the checksum counts as four zeros. */
static int test_crc(const struct prof_symtab *head)
{
    static const uint32_t zero;
    const uint8_t *bytes = (const uint8_t *)head;
    size_t before = offsetof(struct prof_symtab, crc);
    size_t after = before + sizeof head->crc;
    uint32_t crc = prof_crc32c(0, bytes, before);

    crc = prof_crc32c(crc, &zero, sizeof zero);
    crc = prof_crc32c(crc, bytes + after, head->total_bytes - after);
    return crc == head->crc ? PROF_OK : PROF_ESYM_CRC;
}

/* Whether (bytes) bytes at offset (at) lie between the header and the end. */
static bool inside(const struct prof_symtab *head, uint32_t at, uint32_t bytes)
{
    return at % sizeof(uint32_t) == 0 && at >= sizeof *head &&
           at <= head->total_bytes && bytes <= head->total_bytes - at;
}

static int test_layout(const struct prof_symtab *head)
{
    uint32_t bytes = head->count * (uint32_t)sizeof(uint32_t);

    if (head->count > head->total_bytes / sizeof(uint32_t))
        return PROF_ESYM_LAYOUT; /* (bytes) may have wrapped around */
    if (!inside(head, head->offsets_at, bytes) ||
        !inside(head, head->sizes_at, bytes) ||
        !inside(head, head->names_at, bytes) ||
        !inside(head, head->strings_at, head->strings_bytes))
        return PROF_ESYM_LAYOUT;
    if (head->build_id_bytes > PROF_BUILD_ID_MAX)
        return PROF_ESYM_LAYOUT;
    return PROF_OK;
}

static int test_build(const struct prof_symtab *head, const uint8_t *id,
                      size_t bytes)
{
    if (bytes == 0)
        return PROF_OK;
    if (bytes != head->build_id_bytes)
        return PROF_ESYM_BUILD;
    for (size_t i = 0; i < bytes; ++i) {
        if (head->build_id[i] != id[i])
            return PROF_ESYM_BUILD;
    }
    return PROF_OK;
}

/* Rising starts, no function in its neighbour, all below the address limit. */
static int test_order(const struct prof_symtab *head)
{
    const uint32_t *offsets = words_at(head, head->offsets_at);
    const uint32_t *sizes = words_at(head, head->sizes_at);
    uint32_t last = head->count - 1;

    if (head->count == 0)
        return PROF_OK;
    for (uint32_t i = 0; i < last; ++i) {
        if (offsets[i] >= offsets[i + 1] ||
            sizes[i] > offsets[i + 1] - offsets[i])
            return PROF_ESYM_ORDER;
    }
    if (head->base > UINTPTR_MAX ||
        offsets[last] > UINTPTR_MAX - (uintptr_t)head->base ||
        sizes[last] > UINTPTR_MAX - (uintptr_t)head->base - offsets[last])
        return PROF_ESYM_ORDER;
    return PROF_OK;
}

/* The last string ends, so every name that begins inside ends inside. */
static int test_names(const struct prof_symtab *head)
{
    const uint32_t *names = words_at(head, head->names_at);
    const char *strings = (const char *)words_at(head, head->strings_at);
    uint32_t bytes = head->strings_bytes;

    if (bytes > 0 && strings[bytes - 1] != '\0')
        return PROF_ESYM_NAME;
    for (uint32_t i = 0; i < head->count; ++i) {
        if (names[i] >= bytes)
            return PROF_ESYM_NAME;
    }
    return PROF_OK;
}

static int test_all(const struct prof_symtab *head, size_t bytes,
                    const void *build_id, size_t build_id_bytes)
{
    int error = test_head(head, bytes);

    if (error == PROF_OK)
        error = test_crc(head);
    if (error == PROF_OK)
        error = head->pointer_bits == POINTER_BITS ? PROF_OK : PROF_ESYM_WIDTH;
    if (error == PROF_OK)
        error = test_layout(head);
    if (error == PROF_OK)
        error = test_build(head, build_id, build_id_bytes);
    if (error == PROF_OK)
        error = test_order(head);
    if (error == PROF_OK)
        error = test_names(head);
    return error;
}

int prof_symbols_open(const void *bytes_of_table, size_t bytes,
                      const void *build_id, size_t build_id_bytes)
{
    const struct prof_symtab *head = bytes_of_table;

    /* A: the old table is gone before any of its pointers changes. */
    __atomic_store_n(&table.count, 0, __ATOMIC_SEQ_CST);
    table.error = test_all(head, bytes, build_id, build_id_bytes);
    if (table.error != PROF_OK)
        return table.error;
    table.offsets = words_at(head, head->offsets_at);
    table.sizes = words_at(head, head->sizes_at);
    table.names = words_at(head, head->names_at);
    table.strings = (const char *)words_at(head, head->strings_at);
    table.base = (uintptr_t)head->base;
    /* B: pairs with C. Whoever sees the count sees the pointers. */
    __atomic_store_n(&table.count, head->count, __ATOMIC_RELEASE);
    return PROF_OK;
}

int prof_symbols_error(void)
{
    return table.error;
}

uint32_t prof_symbols_count(void)
{
    return __atomic_load_n(&table.count, __ATOMIC_ACQUIRE); /* C */
}

/*
 * The place of the last offset that is not above (key), 0 if all are above.
 * Always the same number of steps and no jump that depends on the data: the
 * way through the table is different each time, so a jump would be guessed
 * wrong every other time. 17 steps for 100,000 functions.
 */
static uint32_t last_not_above(const uint32_t *offsets, uint32_t count,
                               uint32_t key)
{
    uint32_t first = 0;

    while (count > 1) {
        uint32_t half = count / 2;

        first += half & -(uint32_t)(offsets[first + half] <= key);
        count -= half;
    }
    return first;
}

/* The bytes of function (index). Where nobody knows, it ends at the next one;
   the last of all is then believed for its first byte only. */
static uint32_t size_of(uint32_t index, uint32_t count)
{
    if (table.sizes[index] != 0)
        return table.sizes[index];
    if (index + 1 == count)
        return 1;
    return table.offsets[index + 1] - table.offsets[index];
}

bool prof_symbol_find(uintptr_t address, struct prof_symbol *found)
{
    uint32_t count = __atomic_load_n(&table.count, __ATOMIC_ACQUIRE); /* C */
    uintptr_t key = address - table.base;
    uint32_t index, size;

    if (count == 0 || address < table.base || key > UINT32_MAX)
        return false;
    index = last_not_above(table.offsets, count, (uint32_t)key);
    size = size_of(index, count);
    if (key < table.offsets[index] || key - table.offsets[index] >= size)
        return false;
    found->start = table.base + table.offsets[index];
    found->size = size;
    found->name = table.strings + table.names[index];
    found->index = index;
    return true;
}
