/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A build-id for images that were linked without: SHA-1 (FIPS 180-4) of what is
 * loaded from the file, each part after its address and length.
 *
 * Stripping changes only the headers, which may be loaded as well, and embed
 * only the space for the table. Neither counts, so that an image and its
 * unstripped twin, filled or not, get the same one.
 */

#include "embed/embed.h"

#include <endian.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define SHA1_BYTES 20u
#define BLOCK_BYTES 64u

struct sha1 {
    uint32_t state[5];
    uint64_t count; /* bytes so far */
    uint8_t block[BLOCK_BYTES];
};

/* A range of the file. */
struct range {
    uint64_t begin, end;
};

static uint32_t rotate_left(uint32_t word, unsigned bits)
{
    return word << bits | word >> (32 - bits);
}

static uint32_t sha1_round(unsigned round, const uint32_t *s, uint32_t word)
{
    if (round < 20)
        return word + ((s[1] & s[2]) | (~s[1] & s[3])) + 0x5a827999u;
    if (round < 40)
        return word + (s[1] ^ s[2] ^ s[3]) + 0x6ed9eba1u;
    if (round < 60)
        return word + ((s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])) +
               0x8f1bbcdcu;
    return word + (s[1] ^ s[2] ^ s[3]) + 0xca62c1d6u;
}

static void add_block(struct sha1 *sha)
{
    uint32_t words[80], s[5];

    for (unsigned i = 0; i < 16; ++i) {
        memcpy(&words[i], sha->block + 4 * i, 4);
        words[i] = be32toh(words[i]);
    }
    for (unsigned i = 16; i < 80; ++i)
        words[i] = rotate_left(
            words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    memcpy(s, sha->state, sizeof s);
    for (unsigned i = 0; i < 80; ++i) {
        uint32_t next =
            rotate_left(s[0], 5) + s[4] + sha1_round(i, s, words[i]);

        s[4] = s[3];
        s[3] = s[2];
        s[2] = rotate_left(s[1], 30);
        s[1] = s[0];
        s[0] = next;
    }
    for (unsigned i = 0; i < 5; ++i)
        sha->state[i] += s[i];
}

static void sha1_add(struct sha1 *sha, const void *bytes, uint64_t count)
{
    const uint8_t *from = bytes;

    for (; count > 0; --count) {
        sha->block[sha->count++ % BLOCK_BYTES] = *from++;
        if (sha->count % BLOCK_BYTES == 0)
            add_block(sha);
    }
}

static void sha1_finish(struct sha1 *sha, uint8_t *digest)
{
    uint64_t bits = htobe64(8 * sha->count);

    sha1_add(sha, "\200", 1);
    while (sha->count % BLOCK_BYTES != BLOCK_BYTES - sizeof bits)
        sha1_add(sha, "", 1);
    sha1_add(sha, &bits, sizeof bits);
    for (unsigned i = 0; i < 5; ++i) {
        uint32_t word = htobe32(sha->state[i]);

        memcpy(digest + 4 * i, &word, sizeof word);
    }
}

/* Adds (what), which is in the file, without the (count) ranges (but). */
static void add_range(struct sha1 *sha, const uint8_t *file, struct range what,
                      const struct range *but, size_t count)
{
    if (count == 0) {
        sha1_add(sha, file + what.begin, what.end - what.begin);
        return;
    }
    if (but->end <= what.begin || but->begin >= what.end) {
        add_range(sha, file, what, but + 1, count - 1);
        return;
    }
    if (but->begin > what.begin)
        add_range(sha, file, (struct range){what.begin, but->begin}, but + 1,
                  count - 1);
    if (but->end < what.end)
        add_range(sha, file, (struct range){but->end, what.end}, but + 1,
                  count - 1);
}

/* Adds the loaded part (index), as far as it is in the file. */
static void add_part(struct sha1 *sha, Elf *elf, int index,
                     const struct range *but, size_t count)
{
    size_t file_bytes;
    const uint8_t *file = (const uint8_t *)elf_rawfile(elf, &file_bytes);
    struct range part;
    uint64_t head[2];
    GElf_Phdr header;

    if (gelf_getphdr(elf, index, &header) == NULL || header.p_type != PT_LOAD ||
        header.p_offset >= file_bytes)
        return;
    part.begin = header.p_offset;
    part.end = header.p_filesz > file_bytes - part.begin
                   ? file_bytes
                   : part.begin + header.p_filesz;
    head[0] = htole64(header.p_vaddr);
    head[1] = htole64(header.p_memsz);
    sha1_add(sha, head, sizeof head);
    add_range(sha, file, part, but, count);
}

void build_id_make(struct image *image)
{
    struct sha1 sha = {
        .state = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u,
                  0xc3d2e1f0u},
    };
    size_t parts = space_headers(image->elf);
    GElf_Ehdr header;
    struct range but[3];

    if (gelf_getehdr(image->elf, &header) == NULL)
        embed_fail(image->path, "damaged: %s", elf_errmsg(-1));
    but[0] = (struct range){0, header.e_ehsize};
    but[1] = (struct range){header.e_phoff,
                            header.e_phoff + parts * header.e_phentsize};
    but[2] =
        (struct range){image->space.at, image->space.at + image->space.bytes};
    for (size_t i = 0; i < parts; ++i)
        add_part(&sha, image->elf, (int)i, but, 3);
    sha1_finish(&sha, image->build_id);
    image->build_id_bytes = SHA1_BYTES;
}
