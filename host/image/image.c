/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of an ELF file, by libelf. What counts as a function, and which of
 * several names an address has, is decided as for the guest's own table
 * (function_symbols.h).
 */

#include "image/image.h"

#include "base/checked.h"
#include "base/log.h"
#include "base/memory.h"
#include "symbols/function_symbols.h"
#include "image/embedded.h"
#include "image/segment.h"
#include "trace/metadata.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_note(struct image *image, Elf_Data *data,
                      const GElf_Shdr *header)
{
    size_t at = 0, name, descriptor;
    GElf_Nhdr note;

    while ((at = gelf_getnote(data, at, &note, &name, &descriptor)) > 0) {
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
            memcmp((char *)data->d_buf + name, "GNU", 4) != 0)
            continue;
        image->build_id_bytes = note.n_descsz < sizeof image->build_id
                                    ? note.n_descsz
                                    : (uint32_t)sizeof image->build_id;
        memcpy(image->build_id, (char *)data->d_buf + descriptor,
               image->build_id_bytes);
        if ((header->sh_flags & SHF_ALLOC) != 0)
            image->note = header->sh_addr + descriptor;
    }
}

/* Symbols as they are read; functions have several to an address. */
struct symbols {
    struct image *image;
    Elf *elf;
    struct function *functions;
    size_t count;
};

static void put_symbol(struct symbols *symbols, const GElf_Sym *symbol,
                       const char *name)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    struct image *image = symbols->image;
    struct function function;
    GElf_Shdr header = {0};

    if (name == NULL || *name == '\0' || symbol->st_shndx == SHN_UNDEF ||
        type == STT_SECTION || type == STT_FILE)
        return;
    if (symbol->st_shndx < SHN_LORESERVE)
        gelf_getshdr(elf_getscn(symbols->elf, symbol->st_shndx), &header);
    if (function_of_symbol(symbol, &header, name, &function)) {
        function.name = xstrdup(name);
        vector_reserve_one(&symbols->functions, symbols->count,
                           sizeof function);
        symbols->functions[symbols->count++] = function;
    } else if (type == STT_OBJECT || (header.sh_flags & SHF_EXECINSTR) == 0) {
        vector_reserve_one(&image->objects, image->object_count,
                           sizeof *image->objects);
        image->objects[image->object_count++] = (struct image_symbol){
            symbol->st_value, checked_add(symbol->st_value, symbol->st_size),
            xstrdup(name)};
    }
}

static void read_symbols(struct symbols *symbols, Elf_Data *data,
                         const GElf_Shdr *header)
{
    size_t count =
        header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;

    for (size_t i = 0; i < count; ++i) {
        GElf_Sym symbol;

        if (gelf_getsym(data, (int)i, &symbol) != NULL)
            put_symbol(
                symbols, &symbol,
                elf_strptr(symbols->elf, header->sh_link, symbol.st_name));
    }
}

static void read_sections(struct symbols *symbols)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(symbols->elf, section)) != NULL) {
        GElf_Shdr header;
        Elf_Data *data;

        if (gelf_getshdr(section, &header) == NULL ||
            (header.sh_type != SHT_NOTE && header.sh_type != SHT_SYMTAB))
            continue;
        data = elf_getdata(section, NULL);
        if (data == NULL)
            continue;
        if (header.sh_type == SHT_NOTE)
            read_note(symbols->image, data, &header);
        else
            read_symbols(symbols, data, &header);
    }
}

static void choose_functions(struct symbols *symbols)
{
    struct image *image = symbols->image;
    struct function *chosen =
        xreallocarray(NULL, symbols->count, sizeof *chosen);

    if (symbols->count > 0)
        qsort(symbols->functions, symbols->count, sizeof *symbols->functions,
              function_compare);
    image->count = functions_choose(symbols->functions, symbols->count, chosen);
    image->functions =
        xreallocarray(NULL, image->count, sizeof *image->functions);
    for (size_t i = 0; i < image->count; ++i)
        image->functions[i] = (struct image_symbol){
            chosen[i].start, checked_add(chosen[i].start, chosen[i].size),
            chosen[i].name};
    free(chosen);
    free(symbols->functions);
}

/* The range of the code; that of the functions if no segment says it. */
static void find_range(struct image *image)
{
    size_t count;
    struct segment *segments = segments_read(image->path, &count);

    for (size_t i = 0; i < count; ++i) {
        uint64_t end = checked_add(segments[i].address, segments[i].bytes);

        if (i == 0 || segments[i].address < image->begin)
            image->begin = segments[i].address;
        if (end > image->end)
            image->end = end;
    }
    free(segments);
    if (count == 0 && image->count > 0) {
        image->begin = image->functions[0].start;
        image->end = image->functions[image->count - 1].end;
    }
}

bool image_try_one(struct image *image, const char *path, char *why)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct symbols symbols = {.image = image};

    *image = (struct image){.path = path};
    if (file < 0) {
        snprintf(why, IMAGE_WHY_MAX, "%s: cannot be read: %s", path,
                 strerror(errno));
        return false;
    }
    elf_version(EV_CURRENT);
    symbols.elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    if (symbols.elf == NULL || elf_kind(symbols.elf) != ELF_K_ELF) {
        elf_end(symbols.elf);
        close(file);
        snprintf(why, IMAGE_WHY_MAX,
                 "%s: not an ELF file; -k takes the image as it was linked",
                 path);
        return image_open_list(image, path);
    }
    read_sections(&symbols);
    if (image->build_id_bytes == 0)
        embedded_read_id(image, symbols.elf);
    choose_functions(&symbols);
    if (image->count == 0)
        embedded_read(image, symbols.elf);
    elf_end(symbols.elf);
    close(file);
    find_range(image);
    return true;
}

const char *image_file(const struct image *image)
{
    return image->is_list || image->is_stored ? NULL : image->path;
}

bool image_is_of(const struct image *image, const uint8_t *build_id,
                 size_t bytes)
{
    return bytes == 0 || image->build_id_bytes == 0 ||
           (bytes == image->build_id_bytes &&
            memcmp(build_id, image->build_id, bytes) == 0);
}

bool image_fits(const struct image *image, const struct event_hello *hello,
                bool force)
{
    struct event_hello ours = {.build_id_bytes = image->build_id_bytes};
    char here[65], there[65];

    if (image_is_of(image, hello->build_id, hello->build_id_bytes))
        return true;
    memcpy(ours.build_id, image->build_id, sizeof ours.build_id);
    metadata_build_id(&ours, here);
    metadata_build_id(hello, there);
    log_error("%s is not the image that was profiled: its build-id is %s, but "
              "the guest's is %s%s",
              image->path, here, there,
              force ? "" : "; give the right one with -k, or --force");
    return force;
}
