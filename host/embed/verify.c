/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a table says what the image has: it is decoded here independently, as
 * <prof/symtab.h> describes, and must give each function, so that an error in
 * writing it cannot stay hidden. */

#include "embed/embed.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint32_t word_at(const uint8_t *table, size_t at)
{
    uint32_t word;

    memcpy(&word, table + at, sizeof word);
    return le32toh(word);
}

/* Writes the text of (code) to (name); returns its length. */
static size_t put_code(const uint8_t *table, uint8_t code, char *name)
{
    uint32_t tokens = word_at(table, offsetof(struct prof_symtab, tokens_at));
    const uint8_t *texts =
        table + tokens + (PROF_SYMTAB_CODES + 1) * sizeof(uint16_t);
    uint16_t begin[2];

    if (word_at(table, offsetof(struct prof_symtab, tokens_bytes)) == 0) {
        *name = (char)code;
        return 1;
    }
    memcpy(begin, table + tokens + code * sizeof *begin, sizeof begin);
    begin[0] = le16toh(begin[0]);
    begin[1] = le16toh(begin[1]);
    memcpy(name, texts + begin[0], (size_t)(begin[1] - begin[0]));
    return (size_t)(begin[1] - begin[0]);
}

/* Decodes the name at (at) over the previous one; returns where it ends. */
static const uint8_t *read_name(const uint8_t *table, const uint8_t *at,
                                char *name)
{
    size_t used = at[0];
    uint32_t codes = at[1];

    at += 2;
    if (codes >= 128)
        codes = (codes - 128) * 256 + *at++;
    for (; codes > 0; --codes)
        used += put_code(table, *at++, name + used);
    name[used] = '\0';
    return at;
}

/* Names too long for a table end with dots there. */
static bool same_name(const char *name, const char *in_table)
{
    if (strlen(name) <= PROF_SYMTAB_NAME_MAX)
        return strcmp(name, in_table) == 0;
    return strncmp(name, in_table, PROF_SYMTAB_NAME_MAX - 3) == 0;
}

void verify_table(const struct image *image, const uint8_t *table)
{
    static char name[2 * PROF_SYMTAB_NAME_MAX];
    struct functions wanted = select_functions(&image->symbols);
    const uint8_t *at =
        table + word_at(table, offsetof(struct prof_symtab, names_at));
    uint32_t offsets = word_at(table, offsetof(struct prof_symtab, offsets_at));
    size_t entry = 0;

    for (size_t i = 0; i < wanted.count; ++i) {
        const struct function *f = &wanted.at[i];

        do {
            at = read_name(table, at, name);
            ++entry;
        } while (name[0] == '\0');
        if (!same_name(f->name, name) ||
            wanted.at[0].start + word_at(table, offsets + 4 * entry - 4) !=
                f->start)
            embed_fail(image->path, "its table has %s where %s should stand",
                       name, f->name);
    }
    free(wanted.at);
}
