/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names as stored in <prof/symtab.h>: each says how much of its beginning
 * equals the previous name's, and only the rest is stored. Adjacent functions
 * come from one source file, so in C++ a quarter to a half of a name is shared.
 * Each sixteenth is stored whole, so that a reader need not begin at the first
 * one.
 *
 * Raw names are not shortened in this way: they are for tables so small that it
 * does not matter, which can then be read with `strings`.
 */

#include "embed/embed.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

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

/* Appends one name: how much it shares, how many codes it has, and the
 * codes. */
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
