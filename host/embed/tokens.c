/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses names by giving the most frequent pair of adjacent bytes a code of
 * its own, repeatedly, until no codes are left or none would pay off. Codes are
 * byte values that no name contains. Of two equally good pairs the lower one is
 * chosen, so that a table can be reproduced for comparison.
 *
 * A code may consist of two other codes, but the table contains the text that
 * it finally expands to: the reader then has no recursion to bound.
 *
 * The occurrences of each pair are counted once and updated while pairs are
 * replaced, and the bytes to be replaced are searched with memchr(), so that
 * ten megabytes of names take half a second.
 */

#include "embed/embed.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define CODES PROF_SYMTAB_CODES
#define TEXT_MAX 255u /* bytes of one code's text */

/* The text of one code; 0 bytes if no name has it. */
struct code {
    uint8_t text[TEXT_MAX];
    uint8_t bytes;
};

struct packer {
    uint8_t *bytes; /* texts, with a NUL after each */
    size_t count;
    struct code codes[CODES];
    uint32_t pairs[CODES][CODES]; /* occurrences side by side in a text */
};

static void count_all(struct packer *packer)
{
    uint8_t last = '\0';

    for (size_t i = 0; i < packer->count; ++i) {
        uint8_t byte = packer->bytes[i];

        if (byte != '\0')
            packer->codes[byte] = (struct code){{byte}, 1};
        if (last != '\0' && byte != '\0')
            ++packer->pairs[last][byte];
        last = byte;
    }
}

/* The bytes that a code for (left, right) saves, minus its text. */
static int64_t profit(const struct packer *packer, unsigned left,
                      unsigned right)
{
    unsigned bytes = packer->codes[left].bytes + packer->codes[right].bytes;

    if (bytes > TEXT_MAX)
        return 0;
    return (int64_t)packer->pairs[left][right] - bytes;
}

/* Finds the pair that saves most; returns false if none saves anything. */
static bool best_pair(const struct packer *packer, uint8_t pair[2])
{
    int64_t most = 0;

    for (unsigned left = 1; left < CODES; ++left) {
        for (unsigned right = 1; right < CODES; ++right) {
            int64_t saved = profit(packer, left, right);

            if (saved <= most)
                continue;
            most = saved;
            pair[0] = (uint8_t)left;
            pair[1] = (uint8_t)right;
        }
    }
    return most > 0;
}

/* Updates the counts when (last, pair, next) becomes (last, code, next). */
static void recount(struct packer *packer, uint8_t last, const uint8_t pair[2],
                    uint8_t next, uint8_t code)
{
    --packer->pairs[pair[0]][pair[1]];
    if (last != '\0') {
        --packer->pairs[last][pair[0]];
        ++packer->pairs[last][code];
    }
    if (next != '\0') {
        --packer->pairs[pair[1]][next];
        ++packer->pairs[code][next];
    }
}

/* Replaces each (pair) by (code), which makes the texts shorter. */
static void replace(struct packer *packer, const uint8_t pair[2], uint8_t code)
{
    uint8_t *from = packer->bytes, *to = from, *end = from + packer->count;

    while (from < end) {
        uint8_t *hit = memchr(from, pair[0], (size_t)(end - from));
        size_t between = (size_t)((hit != NULL ? hit : end) - from);

        memmove(to, from, between);
        to += between;
        from += between;
        if (hit != NULL && hit[1] == pair[1]) {
            uint8_t last = to > packer->bytes ? to[-1] : '\0';

            recount(packer, last, pair, hit[2], code);
            *to++ = code;
            from += 2;
        } else if (hit != NULL) {
            *to++ = *from++;
        }
    }
    packer->count = (size_t)(to - packer->bytes);
}

static void join(struct packer *packer, const uint8_t pair[2], uint8_t code)
{
    const struct code *left = &packer->codes[pair[0]];
    const struct code *right = &packer->codes[pair[1]];
    struct code *both = &packer->codes[code];

    memcpy(both->text, left->text, left->bytes);
    memcpy(both->text + left->bytes, right->text, right->bytes);
    both->bytes = (uint8_t)(left->bytes + right->bytes);
    replace(packer, pair, code);
}

/* The tokens of <prof/symtab.h>: where each text begins, and the texts. */
static void put_tokens(const struct packer *packer, struct names *names)
{
    size_t used = (CODES + 1) * sizeof(uint16_t);
    uint16_t begin = 0, word;

    names->tokens = embed_alloc(used + CODES * TEXT_MAX, 1);
    for (unsigned code = 0; code <= CODES; ++code) {
        word = htole16(begin);
        memcpy(names->tokens + code * sizeof word, &word, sizeof word);
        if (code == CODES)
            break;
        memcpy(names->tokens + used, packer->codes[code].text,
               packer->codes[code].bytes);
        used += packer->codes[code].bytes;
        begin = (uint16_t)(begin + packer->codes[code].bytes);
    }
    names->tokens_bytes = used;
}

size_t tokens_pack(uint8_t *bytes, size_t count, struct names *names)
{
    struct packer *packer = embed_alloc(1, sizeof *packer);
    uint8_t pair[2];

    packer->bytes = bytes;
    packer->count = count;
    count_all(packer);
    for (unsigned code = 1; code < CODES; ++code) {
        if (packer->codes[code].bytes > 0)
            continue;
        if (!best_pair(packer, pair))
            break;
        join(packer, pair, (uint8_t)code);
    }
    put_tokens(packer, names);
    count = packer->count;
    free(packer);
    return count;
}
