/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validates a symbol table from the first byte to the last.
 *
 * Every number is checked before another check relies on it: the length, the
 * magic, the checksum, the layout, then the arrays. A lookup then has no checks
 * left to do, which makes it safe in a panic. Nor has the expansion of a name:
 * a code expands to text and never to other codes, so there can be no cycle,
 * and the length of each name is checked here.
 *
 * The checksum finds accidents (a bad copy, a half-written file). The tests
 * after it find tables that a faulty tool wrote with a correct checksum.
 */

#include "symbols/table.h"

#include <prof/config.h>
#include <prof/error.h>
#include <stdbool.h>

#include "base/crc.h"

#define POINTER_BITS ((uint32_t)(8 * sizeof(uintptr_t)))
/* The host aligns a table to this many bytes. */
#define TABLE_ALIGN 8u

_Static_assert(sizeof(struct prof_symtab) == 120, "laid out as the host does");

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
static bool test_crc(const struct prof_symtab *head)
{
    static const uint32_t zero;
    const uint8_t *bytes = (const uint8_t *)head;
    size_t before = offsetof(struct prof_symtab, crc);
    size_t after = before + sizeof head->crc;
    uint32_t crc = prof_crc32c(0, bytes, before);

    crc = prof_crc32c(crc, &zero, sizeof zero);
    crc = prof_crc32c(crc, bytes + after, head->total_bytes - after);
    return crc == head->crc;
}

/* Whether (bytes) bytes at offset (at) lie between the header and the end. */
static bool inside(const struct prof_symtab *head, uint32_t at, uint32_t bytes)
{
    return at % sizeof(uint32_t) == 0 && at >= sizeof *head &&
           at <= head->total_bytes && bytes <= head->total_bytes - at;
}

/* The arrays: offsets in the head of where each lies and of the number of its
 * elements, and the size of one. */
#define AT(member) offsetof(struct prof_symtab, member)
static const struct {
    uint8_t at, count, bytes;
} arrays[] = {
    {AT(gaps_at), AT(count), 1},
    {AT(parts_at), AT(parts_count), sizeof(uint32_t)},
    {AT(firsts_at), AT(firsts_count), sizeof(uint32_t)},
    {AT(tokens_at), AT(tokens_bytes), 1},
    {AT(names_at), AT(names_bytes), 1},
};

static uint32_t word_of(const struct prof_symtab *head, uint32_t at)
{
    return *prof_symtab_words(head, at);
}

static bool test_layout(const struct prof_symtab *head)
{
    uint32_t word = (uint32_t)sizeof(uint32_t), count = head->count;
    uint32_t blocks =
        count / PROF_SYMTAB_BLOCK + (count % PROF_SYMTAB_BLOCK != 0);

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        uint32_t elements = word_of(head, arrays[i].count);

        /* without the first test the product might wrap around */
        if (elements > head->total_bytes / arrays[i].bytes ||
            !inside(head, word_of(head, arrays[i].at),
                    elements * arrays[i].bytes))
            return false;
    }
    return count < head->total_bytes / word &&
           inside(head, head->offsets_at, (count + 1) * word) &&
           inside(head, head->marks_at, blocks * word) &&
           head->build_id_bytes <= PROF_BUILD_ID_MAX;
}

static bool test_build(const struct prof_symtab *head, const uint8_t *id,
                       size_t bytes)
{
    if (bytes != 0 && bytes != head->build_id_bytes)
        return false;
    for (size_t i = 0; i < bytes; ++i) {
        if (head->build_id[i] != id[i])
            return false;
    }
    return true;
}

/* Rising starts, room for each gap, all below the address limit. */
static bool test_order(const struct prof_symtab *head)
{
    const uint32_t *offsets = prof_symtab_words(head, head->offsets_at);
    const uint8_t *gaps = prof_symtab_bytes(head, head->gaps_at);
    uint32_t count = head->count;

    for (uint32_t i = 0; i < count; ++i) {
        if (offsets[i] >= offsets[i + 1] ||
            (gaps[i] != PROF_SYMTAB_HOLE &&
             gaps[i] >= offsets[i + 1] - offsets[i]))
            return false;
    }
    return count == 0 ||
           (head->base <= UINTPTR_MAX &&
            offsets[count] <= UINTPTR_MAX - (uintptr_t)head->base);
}

/* A cursor over the starts, which only moves forward. */
struct walk {
    const uint32_t *offsets;
    uint32_t count; /* of the starts */
    uint32_t at;    /* the last one not above the offset reached, or 0 */
};

static uint32_t walk_to(struct walk *walk, uint64_t offset)
{
    while (walk->at + 1 < walk->count && walk->offsets[walk->at + 1] <= offset)
        ++walk->at;
    return walk->at;
}

/* Whether the pieces of part (p) come next in first[], and the window of each
   includes every entry that a search in that piece may have to find. */
static bool test_part(const struct prof_symtab *head, struct walk *walk,
                      uint32_t p, uint32_t *next)
{
    const uint32_t *firsts = prof_symtab_words(head, head->firsts_at);
    uint32_t part = prof_symtab_words(head, head->parts_at)[p];
    unsigned shift = prof_symtab_piece_shift(part);
    uint64_t at = (uint64_t)p << head->parts_shift;
    uint32_t pieces;

    if (prof_symtab_piece(part, 0) != *next || shift > head->parts_shift)
        return false;
    pieces = (uint32_t)1 << (head->parts_shift - shift);
    if (pieces > head->firsts_count - *next)
        return false;
    for (uint32_t i = 0; i < pieces; ++i) {
        uint32_t first = firsts[(*next)++];

        if (first > walk_to(walk, at))
            return false;
        at += (uint64_t)1 << shift;
        if (walk_to(walk, at - 1) - first >= head->window)
            return false;
    }
    return true;
}

static bool test_index(const struct prof_symtab *head)
{
    struct walk walk = {prof_symtab_words(head, head->offsets_at), head->count,
                        0};
    uint32_t next = 0;

    if (head->count == 0)
        return true;
    if (head->parts_shift > 31 || head->window == 0 ||
        head->window > head->count ||
        head->parts_count - 1 !=
            (walk.offsets[head->count] - 1) >> head->parts_shift)
        return false;
    for (uint32_t p = 0; p < head->parts_count; ++p) {
        if (!test_part(head, &walk, p, &next))
            return false;
    }
    return next == head->firsts_count;
}

/* The texts must be contiguous, end with the tokens, and have no NUL. */
static bool test_tokens(const struct prof_symtab *head)
{
    const uint16_t *begins = prof_symtab_begins(head);
    const uint8_t *texts =
        prof_symtab_bytes(head, head->tokens_at) + PROF_SYMTAB_BEGINS;
    uint32_t bytes = head->tokens_bytes - (uint32_t)PROF_SYMTAB_BEGINS;

    if (head->tokens_bytes == 0)
        return true;
    if (head->tokens_bytes < PROF_SYMTAB_BEGINS || begins[0] != 0 ||
        begins[PROF_SYMTAB_CODES] != bytes)
        return false;
    for (uint32_t code = 0; code < PROF_SYMTAB_CODES; ++code) {
        if (begins[code] > begins[code + 1])
            return false;
    }
    for (uint32_t i = 0; i < bytes; ++i) {
        if (texts[i] == '\0')
            return false;
    }
    return true;
}

/* Bytes that the (length) codes at (codes) expand to; 0 if one of them expands
   to nothing, or all together are too long for a name. */
static uint32_t expanded(const struct prof_symtab *head, const uint8_t *codes,
                         uint32_t length)
{
    const uint16_t *begins = prof_symtab_begins(head);
    uint32_t bytes = 0;

    for (uint32_t i = 0; i < length; ++i) {
        uint32_t one = codes[i] != '\0';

        if (head->tokens_bytes != 0)
            one = (uint32_t)begins[codes[i] + 1] - begins[codes[i]];
        bytes += one;
        if (one == 0 || bytes > PROF_SYMTAB_NAME_MAX)
            return 0;
    }
    return bytes;
}

/*
 * Checks the name that begins (*at) bytes into the names, and moves (*at) to
 * its end. (*bytes): in, the length of the name before it; out, its own.
 */
static bool test_name(const struct prof_symtab *head, uint32_t *at,
                      uint32_t *bytes)
{
    const uint8_t *names = prof_symtab_bytes(head, head->names_at);
    const uint8_t *codes = names + *at + 1;
    uint32_t left = head->names_bytes - *at;
    uint32_t length, own;

    if (left < 2 || left < 2u + (codes[0] >> 7) || names[*at] > *bytes)
        return false;
    *bytes = names[*at];
    length = prof_symtab_length(&codes);
    *at = (uint32_t)(codes - names);
    if (length > head->names_bytes - *at)
        return false;
    own = expanded(head, codes, length);
    *at += length;
    *bytes += own;
    return (own > 0 || length == 0) && *bytes <= PROF_SYMTAB_NAME_MAX;
}

/* Names must be contiguous, and an entry without a name must be a hole. */
static bool test_names(const struct prof_symtab *head)
{
    const uint32_t *marks = prof_symtab_words(head, head->marks_at);
    const uint8_t *gaps = prof_symtab_bytes(head, head->gaps_at);
    uint32_t at = 0, bytes = 0;

    for (uint32_t i = 0; i < head->count; ++i) {
        if (i % PROF_SYMTAB_BLOCK == 0) {
            bytes = 0;
            if (marks[i / PROF_SYMTAB_BLOCK] != at)
                return false;
        }
        if (!test_name(head, &at, &bytes) ||
            (bytes == 0) != (gaps[i] == PROF_SYMTAB_HOLE))
            return false;
    }
    return at == head->names_bytes;
}

int prof_symtab_test(const struct prof_symtab *head, size_t bytes,
                     const void *build_id, size_t build_id_bytes)
{
    int error = test_head(head, bytes);

    if (error != PROF_OK)
        return error;
    if (!test_crc(head))
        return PROF_ESYM_CRC;
    if (head->pointer_bits != POINTER_BITS)
        return PROF_ESYM_WIDTH;
    if (!test_layout(head))
        return PROF_ESYM_LAYOUT;
    if (!test_build(head, build_id, build_id_bytes))
        return PROF_ESYM_BUILD;
    if (!PROF_WITH_CHECKS)
        return PROF_OK;
    if (!test_order(head))
        return PROF_ESYM_ORDER;
    if (!test_index(head))
        return PROF_ESYM_INDEX;
    return test_tokens(head) && test_names(head) ? PROF_OK : PROF_ESYM_NAME;
}
