/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A build-id for images that were linked without: SHA-1 of what is loaded from
 * the file, each part after its address and length.
 *
 * Stripping changes only the headers, which may be loaded as well, and embed
 * only the space for the table. Neither counts, so that an image and its
 * unstripped twin, filled or not, get the same one.
 */

#include "embed/embed.h"

#include <endian.h>
#include <gelf.h>
#include <nettle/sha1.h>
#include <stdlib.h>
#include <string.h>

struct range {
    uint64_t begin, end;
};

/* Adds (what), which is in the file, without the (count) ranges (but). */
static void add_range(struct sha1_ctx *sha, const uint8_t *file,
                      struct range what, const struct range *but, size_t count)
{
    if (count == 0) {
        sha1_update(sha, what.end - what.begin, file + what.begin);
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

static void add_part(struct sha1_ctx *sha, Elf *elf, int index,
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
    sha1_update(sha, sizeof head, (const uint8_t *)head);
    add_range(sha, file, part, but, count);
}

void build_id_make(struct image *image)
{
    struct sha1_ctx sha;
    size_t parts = space_headers(image->elf);
    GElf_Ehdr header;
    struct range but[3];

    if (gelf_getehdr(image->elf, &header) == NULL)
        embed_fail(image->path, "damaged: %s", elf_errmsg(-1));
    sha1_init(&sha);
    but[0] = (struct range){0, header.e_ehsize};
    but[1] = (struct range){header.e_phoff,
                            header.e_phoff + parts * header.e_phentsize};
    but[2] =
        (struct range){image->space.at, image->space.at + image->space.bytes};
    for (size_t i = 0; i < parts; ++i)
        add_part(&sha, image->elf, (int)i, but, 3);
    sha1_digest(&sha, SHA1_DIGEST_SIZE, image->build_id);
    image->build_id_bytes = SHA1_DIGEST_SIZE;
}
