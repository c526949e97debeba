/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in a table a search begins: the index of <prof/symtab.h>.
 *
 * A search examines as many entries as the widest window of the table has, so
 * one crowded part slows down all searches. Each part is therefore halved
 * repeatedly until no piece of it has a window above a limit, and the lowest
 * limit is chosen that the pieces can be afforded for. So crowded parts get
 * many pieces and empty ones a single one; a function that is far from all
 * others costs only itself.
 */

#include "embed/embed.h"

#include <endian.h>
#include <stdlib.h>

#define ENTRIES_OF_PART 16u /* on average, at least */
#define ENTRIES_OF_PIECE 2u
#define PIECES_MAX (1u << 27) /* what part[] has bits for */
#define LIMIT_MIN 16u

struct cutting {
    const uint32_t *offsets; /* little-endian */
    size_t count;            /* of the starts */
    size_t most;             /* affordable pieces */
    struct lookup *index;
};

/* The last start not above (offset), from the start (at) on. */
static size_t last_not_above(const struct cutting *c, size_t at,
                             uint64_t offset)
{
    while (at + 1 < c->count && le32toh(c->offsets[at + 1]) <= offset)
        ++at;
    return at;
}

/* Fills in the first[]s of a part that begins at (begin), with (at) the last
 * start not above that, for pieces of 1 << (shift) bytes. Returns the widest of
 * their windows. */
static uint32_t cut_part(const struct cutting *c, size_t at, uint64_t begin,
                         unsigned shift)
{
    uint32_t *first = c->index->firsts + c->index->firsts_count;
    uint64_t end = begin + (1ull << c->index->shift);
    size_t widest = 1;

    while (begin < end) {
        size_t last;

        at = last_not_above(c, at, begin);
        *first++ = htole32((uint32_t)at);
        begin += 1ull << shift;
        last = last_not_above(c, at, begin - 1);
        if (last - at + 1 > widest)
            widest = last - at + 1;
        at = last;
    }
    return (uint32_t)widest;
}

/* Divides all parts for windows of at most (limit); false: too many pieces. */
static bool cut_all(const struct cutting *c, uint32_t limit)
{
    struct lookup *index = c->index;
    size_t at = 0;

    index->firsts_count = 0;
    index->window = 1;
    for (size_t p = 0; p < index->parts_count; ++p) {
        uint64_t begin = (uint64_t)p << index->shift;
        unsigned shift = index->shift + 1;
        uint32_t window;

        at = last_not_above(c, at, begin);
        do {
            --shift;
            if (index->firsts_count + (1ull << (index->shift - shift)) >
                c->most)
                return false;
            window = cut_part(c, at, begin, shift);
        } while (window > limit && shift > 0);
        index->parts[p] =
            htole32((uint32_t)index->firsts_count << 5 | (uint32_t)shift);
        index->firsts_count += (size_t)1 << (index->shift - shift);
        if (window > index->window)
            index->window = window;
    }
    return true;
}

struct lookup lookup_make(const uint32_t *offsets, size_t count)
{
    uint32_t last = le32toh(offsets[count]) - 1;
    struct lookup index = {0};
    struct cutting c = {offsets, count, 0, &index};
    uint32_t limit = LIMIT_MIN;

    while (index.shift < 31 && last >> index.shift > count / ENTRIES_OF_PART)
        ++index.shift;
    index.parts_count = (last >> index.shift) + 1;
    c.most = index.parts_count + count / ENTRIES_OF_PIECE;
    if (c.most > PIECES_MAX)
        c.most = PIECES_MAX;
    index.parts = embed_alloc(index.parts_count, sizeof *index.parts);
    index.firsts = embed_alloc(c.most, sizeof *index.firsts);
    while (!cut_all(&c, limit))
        limit *= 2;
    return index;
}

void lookup_free(struct lookup *index)
{
    free(index->parts);
    free(index->firsts);
}
