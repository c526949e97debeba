/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a symbol table is sound, from the first byte to the last.
 *
 * Every number is looked at before something relies on it, in the order in
 * which they can be trusted: the length, what it is, the checksum, where the
 * arrays lie, and then the arrays themselves. A lookup has no test left to do,
 * which is what makes it safe in a panic.
 *
 * The checksum finds accidents (a bad copy, a half-written file); the tests
 * after it find tables that were made wrong and have a good checksum.
 */

#include "symtab.h"

#include <prof/error.h>
#include <stdbool.h>

#include "crc.h"

#define POINTER_BITS ((uint32_t)(8 * sizeof(uintptr_t)))
/* What the host aligns a table to. */
#define TABLE_ALIGN 8u

_Static_assert(sizeof(struct prof_symtab) == 88, "laid out as the host does");

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
    const uint32_t *offsets = prof_symtab_words(head, head->offsets_at);
    const uint32_t *sizes = prof_symtab_words(head, head->sizes_at);
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
    const uint32_t *names = prof_symtab_words(head, head->names_at);
    const char *strings =
        (const char *)prof_symtab_words(head, head->strings_at);
    uint32_t bytes = head->strings_bytes;

    if (bytes > 0 && strings[bytes - 1] != '\0')
        return PROF_ESYM_NAME;
    for (uint32_t i = 0; i < head->count; ++i) {
        if (names[i] >= bytes)
            return PROF_ESYM_NAME;
    }
    return PROF_OK;
}

int prof_symtab_test(const struct prof_symtab *head, size_t bytes,
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
