/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names as stored in <prof/symtab.h>: each says how much of its beginning
 * equals the previous name's, and only the rest is stored. Adjacent functions
 * come from one source file, so in C++ a quarter to a half of a name is shared.
 * Each sixteenth is stored whole, so that a reader need not begin at the first
 * one. What is left is compressed.
 *
 * Raw names are not shortened in this way: they are for tables so small that it
 * does not matter, which can then be read with `strings`.
 */

#include "embed/embed.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* ---- compression
 *
 * The most frequent pair of adjacent bytes is given a code of its own,
 * repeatedly, until no codes are left or none would pay off. Codes are byte
 * values that no name contains. Of two equally good pairs the lower one is
 * chosen, so that a table can be reproduced for comparison.
 *
 * A code may consist of two other codes, but the table contains the text that
 * it finally expands to: the reader then has no recursion to bound.
 *
 * The occurrences of each pair are counted once and updated while pairs are
 * replaced, and the bytes to be replaced are searched with memchr(), so that
 * ten megabytes of names take half a second.
 */

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

static int64_t profit_of(const struct packer *packer, unsigned left,
                         unsigned right)
{
    unsigned bytes = packer->codes[left].bytes + packer->codes[right].bytes;

    if (bytes > TEXT_MAX)
        return 0;
    return (int64_t)packer->pairs[left][right] - bytes;
}

static bool best_pair(const struct packer *packer, uint8_t pair[2])
{
    int64_t most = 0;

    for (unsigned left = 1; left < CODES; ++left) {
        for (unsigned right = 1; right < CODES; ++right) {
            int64_t saved = profit_of(packer, left, right);

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

static void replace_pair(struct packer *packer, const uint8_t pair[2],
                         uint8_t code)
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

static void join_pair(struct packer *packer, const uint8_t pair[2],
                      uint8_t code)
{
    const struct code *left = &packer->codes[pair[0]];
    const struct code *right = &packer->codes[pair[1]];
    struct code *both = &packer->codes[code];

    memcpy(both->text, left->text, left->bytes);
    memcpy(both->text + left->bytes, right->text, right->bytes);
    both->bytes = (uint8_t)(left->bytes + right->bytes);
    replace_pair(packer, pair, code);
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

/* Compresses the texts in (bytes), each terminated by a NUL, in place to codes
 * other than NUL. The codes' texts go into (names). Returns how many bytes are
 * left. */
static size_t tokens_pack(uint8_t *bytes, size_t count, struct names *names)
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
        join_pair(packer, pair, (uint8_t)code);
    }
    put_tokens(packer, names);
    count = packer->count;
    free(packer);
    return count;
}

/* ---- names */

#define SHARED_MAX 255u
#define DOTS "..."

/* Texts being put into a table. */
struct texts {
    uint8_t *bytes; /* with a NUL after each */
    size_t used;
    uint8_t *shared; /* by name, the bytes shared with the one before */
};

static size_t length_of(const char *name)
{
    return strnlen(name, PROF_SYMTAB_NAME_MAX);
}

/* How many bytes at the beginning (name) and (before) share, compared as they
 * will be read: a name that is too long without its end. */
static size_t shared_by(const char *before, const char *name)
{
    size_t most = length_of(name), count = 0;

    if (most > SHARED_MAX)
        most = SHARED_MAX;
    while (count < most && before[count] == name[count])
        ++count;
    return count;
}

/* Appends (name) from byte (from) on; if it is too long it ends with dots. */
static void put_text(struct texts *texts, const char *name, size_t from)
{
    size_t length = length_of(name);
    uint8_t *to = texts->bytes + texts->used;

    memcpy(to, name + from, length - from);
    texts->used += length - from;
    if (name[length] != '\0')
        memcpy(texts->bytes + texts->used - strlen(DOTS), DOTS, strlen(DOTS));
    texts->bytes[texts->used++] = '\0';
}

static struct texts texts_of(const char *const *all, size_t count, bool packed)
{
    struct texts texts = {0};
    size_t room = 0;

    for (size_t i = 0; i < count; ++i)
        room += length_of(all[i]) + 1;
    texts.bytes = embed_alloc(room, 1);
    texts.shared = embed_alloc(count, 1);
    for (size_t i = 0; i < count; ++i) {
        if (packed && i % PROF_SYMTAB_BLOCK != 0)
            texts.shared[i] = (uint8_t)shared_by(all[i - 1], all[i]);
        put_text(&texts, all[i], texts.shared[i]);
    }
    return texts;
}

/* Appends one name: bytes shared, how many codes, and the codes. */
static void put_name(struct names *names, uint8_t shared, const uint8_t *codes)
{
    size_t length = strlen((const char *)codes);
    uint8_t *to = names->bytes + names->count;

    *to++ = shared;
    if (length >= 0x80)
        *to++ = (uint8_t)(0x80 | length >> 8);
    *to++ = (uint8_t)length;
    memcpy(to, codes, length);
    names->count = (size_t)(to + length - names->bytes);
}

struct names names_make(const char *const *all, size_t count, bool packed)
{
    struct texts texts = texts_of(all, count, packed);
    struct names names = {0};
    const uint8_t *from = texts.bytes;

    if (packed)
        texts.used = tokens_pack(texts.bytes, texts.used, &names);
    names.bytes = embed_alloc(texts.used + 2 * count, 1);
    names.marks =
        embed_alloc(count / PROF_SYMTAB_BLOCK + 1, sizeof *names.marks);
    for (size_t i = 0; i < count; ++i) {
        if (i % PROF_SYMTAB_BLOCK == 0)
            names.marks[i / PROF_SYMTAB_BLOCK] = htole32((uint32_t)names.count);
        put_name(&names, texts.shared[i], from);
        from += strlen((const char *)from) + 1;
    }
    free(texts.bytes);
    free(texts.shared);
    return names;
}

void names_free(struct names *names)
{
    free(names->bytes);
    free(names->marks);
    free(names->tokens);
}
