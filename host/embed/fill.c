/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the table into the space that an image reserves for it.
 *
 * Nothing else of the image changes, so it is linked once, and whatever is made
 * of it afterwards contains the table. All that can fail is done before the
 * first byte is written.
 */

#include "embed/embed.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_ALIGN 8u

/* What is proposed to be reserved leaves room to grow, and is round. */
#define SPARE_PART 8u
#define RESERVE_UNIT 4096u

static void need_space(const struct image *image)
{
    switch (image->space_result) {
    case SPACE_FOUND:
        break;
    case SPACE_NONE:
        embed_fail(image->path,
                   "it reserves no space for a symbol table: call "
                   "prof_begin() or prof_symbols_embedded(), and link "
                   "libprof.a, or write PROF_SYMBOLS_RESERVE(65536); in one "
                   "source file (C, C++)");
    case SPACE_SEVERAL:
        embed_fail(image->path, "it reserves space for symbol tables twice: "
                                "PROF_SYMBOLS_RESERVE belongs in one file");
    case SPACE_RELATIVE:
        embed_fail(image->path,
                   "position-independent, so that its addresses are not known "
                   "yet: link it with -no-pie");
    case SPACE_OUTSIDE:
        embed_fail(image->path,
                   "the space for its symbol table is not loaded from the "
                   "file: the linker script must not put .rodata into a "
                   "section without contents");
    }
    if (image->space.at % TABLE_ALIGN != image->space.address % TABLE_ALIGN ||
        image->space.address % TABLE_ALIGN != 0)
        embed_fail(image->path,
                   "the space for its symbol table lies at 0x%" PRIx64
                   ": align it to 8 bytes",
                   image->space.address);
}

/* Fails unless the code of (twin) is what (image) has there. */
static void need_same_code(const struct image *image, const struct image *twin)
{
    bool narrow = gelf_getclass(image->elf) == ELFCLASS32;
    const char *bytes = elf_rawfile(image->elf, NULL);
    Elf_Scn *section = NULL;
    const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;

    while ((section = elf_nextscn(twin->elf, section)) != NULL) {
        Elf_Data *data;
        GElf_Shdr header;
        uint64_t at;

        if (gelf_getshdr(section, &header) == NULL ||
            (header.sh_flags & code) != code || header.sh_size == 0 ||
            header.sh_type == SHT_NOBITS)
            continue;
        data = elf_rawdata(section, NULL);
        if (narrow)
            header.sh_addr &= UINT32_MAX;
        if (data == NULL || data->d_buf == NULL ||
            !space_place(image->elf, header.sh_addr, data->d_size, &at) ||
            memcmp(bytes + at, data->d_buf, data->d_size) != 0)
            embed_fail(twin->path, "not the code of %s: another build",
                       image->path);
    }
}

/* The functions of the unstripped (twin) for (image). */
static void take_symbols(struct image *image, const struct image *twin)
{
    embed_need_symbols(twin);
    need_same_code(image, twin);
    image->symbols = twin->symbols;
    image->stripped = false;
    for (size_t i = 0; i < image->symbols.count; ++i) {
        struct function *f = &image->symbols.at[i];

        f->start = space_full(&image->space, f->start);
        f->limit = space_full(&image->space, f->limit - 1) + 1;
    }
}

/* Stripping may remove the note. */
static void take_build_id(struct image *image, const struct image *twin)
{
    if (image->build_id_bytes != 0)
        return;
    image->build_id_bytes = twin->build_id_bytes;
    memcpy(image->build_id, twin->build_id, sizeof image->build_id);
}

static void need_symbols(const struct image *image)
{
    if (image->stripped)
        embed_fail(image->path, "stripped: embed before it is stripped, or "
                                "name its unstripped twin with -k");
    embed_need_symbols(image);
}

/* The table, compressed or not if only that fits. */
static struct table fitting_table(const struct image *image)
{
    struct table table = table_make(image, NAMES_AS_PAYS);
    size_t enough;

    if (table.count > image->space.bytes) {
        struct table packed = table_make(image, NAMES_PACKED);
        bool is_smaller = packed.count < table.count;

        free(is_smaller ? table.bytes : packed.bytes);
        table = is_smaller ? packed : table;
    }
    enough = (table.count + table.count / SPARE_PART + RESERVE_UNIT - 1) /
             RESERVE_UNIT * RESERVE_UNIT;
    if (table.count > image->space.bytes)
        embed_fail(image->path,
                   "its symbol table takes %zu bytes, and %" PRIu32
                   " are reserved, %zu too few: the image has no names. Write "
                   "PROF_SYMBOLS_RESERVE(%zu); in one source file (C, C++), "
                   "outside of functions, or make lib "
                   "LIB_CFLAGS=-DPROF_SYMBOLS_BYTES=%zu, and link again",
                   table.count, image->space.bytes,
                   table.count - image->space.bytes, enough, enough);
    return table;
}

static void write_at(int file, const char *path, const uint8_t *bytes,
                     size_t count, uint64_t at)
{
    while (count > 0) {
        ssize_t written = pwrite(file, bytes, count, (off_t)at);

        if (written <= 0)
            embed_fail(path, "cannot be written: %s", strerror(errno));
        bytes += written;
        at += (uint64_t)written;
        count -= (size_t)written;
    }
}

static int copy_of(const struct image *image, const char *path)
{
    size_t count;
    const char *bytes = elf_rawfile(image->elf, &count);
    struct stat status;
    int file;

    if (fstat(image->file, &status) != 0)
        embed_fail(image->path, "cannot be read: %s", strerror(errno));
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC, status.st_mode & 0777);
    if (file < 0)
        embed_fail(path, "cannot be written: %s", strerror(errno));
    write_at(file, path, (const uint8_t *)bytes, count, 0);
    return file;
}

static bool is_same_file(const struct image *image, const char *path)
{
    struct stat ours, other;

    return fstat(image->file, &ours) == 0 && stat(path, &other) == 0 &&
           ours.st_dev == other.st_dev && ours.st_ino == other.st_ino;
}

/* Writes (table) and zeros up to the end of the space. */
static void write_table(const struct image *image, const struct table *table,
                        const char *output)
{
    uint8_t *whole = embed_alloc(image->space.bytes, 1);
    const char *path = output != NULL ? output : image->path;
    int file;

    memcpy(whole, table->bytes, table->count);
    if (output != NULL && !is_same_file(image, output))
        file = copy_of(image, output);
    else
        file = open(path, O_WRONLY);
    if (file < 0)
        embed_fail(path, "cannot be written: %s", strerror(errno));
    write_at(file, path, whole, image->space.bytes, image->space.at);
    if (close(file) != 0)
        embed_fail(path, "cannot be written: %s", strerror(errno));
    free(whole);
}

static bool is_relocatable(const struct image *image)
{
    GElf_Ehdr header;

    return gelf_getehdr(image->elf, &header) != NULL && header.e_type == ET_DYN;
}

struct filled fill_image(const struct fill *fill)
{
    struct filled filled = {0};
    struct image image, twin;
    struct functions chosen;
    struct table table;

    embed_open(&image, fill->image);
    need_space(&image);
    if (fill->symbols != NULL) {
        embed_open(&twin, fill->symbols);
        free(image.symbols.at);
        take_symbols(&image, &twin);
        take_build_id(&image, &twin);
    }
    need_symbols(&image);
    filled.build_id_made = image.build_id_bytes == 0;
    if (filled.build_id_made)
        build_id_make(&image);
    table = fitting_table(&image);
    verify_table(&image, table.bytes);
    chosen = select_functions(&image.symbols);
    filled.functions = chosen.count;
    filled.relocatable = is_relocatable(&image);
    filled.beyond = chosen.beyond;
    filled.bytes = (uint32_t)table.count;
    filled.reserved = image.space.bytes;
    filled.build_id_bytes = image.build_id_bytes;
    memcpy(filled.build_id, image.build_id, sizeof filled.build_id);
    write_table(&image, &table, fill->output);
    free(chosen.at);
    free(table.bytes);
    if (fill->symbols != NULL) {
        image.symbols.at = NULL;
        embed_close(&twin);
    }
    embed_close(&image);
    return filled;
}
