/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of an ELF file, by libelf. What counts as a function, and which of
 * several names an address has, is decided as for the guest's own table
 * (function_symbols.h).
 */

#include "image/image.h"

#include "base/log.h"
#include "base/memory.h"
#include "function_symbols.h"
#include "image/segment.h"
#include "space.h"
#include "trace/metadata.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <prof/symtab.h>
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

/* An image that was linked without a note has the build-id that `parasite
 * embed` put into its symbol table. */
static void read_embedded_id(struct image *image, Elf *elf)
{
    size_t file_bytes;
    const char *file = elf_rawfile(elf, &file_bytes);
    struct prof_symtab head;
    struct space space;

    if (space_find(elf, &space) != SPACE_FOUND || space.bytes < sizeof head)
        return;
    memcpy(&head, file + space.at, sizeof head);
    if (le32toh(head.magic) != PROF_SYMTAB_MAGIC ||
        le32toh(head.version) != PROF_SYMTAB_VERSION ||
        le32toh(head.build_id_bytes) > sizeof image->build_id)
        return;
    image->build_id_bytes = le32toh(head.build_id_bytes);
    memcpy(image->build_id, head.build_id, image->build_id_bytes);
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
            symbol->st_value, symbol->st_value + symbol->st_size,
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
            chosen[i].start, chosen[i].start + chosen[i].size, chosen[i].name};
    free(chosen);
    free(symbols->functions);
}

/* The range of the code; that of the functions if no segment says it. */
static void find_range(struct image *image)
{
    size_t count;
    struct segment *segments = segments_read(image->path, &count);

    for (size_t i = 0; i < count; ++i) {
        uint64_t end = segments[i].address + segments[i].bytes;

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

void image_open_one(struct image *image, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct symbols symbols = {.image = image};

    *image = (struct image){.path = path};
    if (file < 0)
        die("%s: cannot be read: %s", path, strerror(errno));
    elf_version(EV_CURRENT);
    symbols.elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    if (symbols.elf == NULL || elf_kind(symbols.elf) != ELF_K_ELF) {
        elf_end(symbols.elf);
        close(file);
        if (image_open_list(image, path))
            return;
        die("%s: not an ELF file; -k takes the image as it was linked", path);
    }
    read_sections(&symbols);
    if (image->build_id_bytes == 0)
        read_embedded_id(image, symbols.elf);
    elf_end(symbols.elf);
    close(file);
    choose_functions(&symbols);
    find_range(image);
}

static const struct image_symbol *find(const struct image *image,
                                       uint64_t address)
{
    size_t low = 0, high = image->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (image->functions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= image->functions[low - 1].end)
        return NULL;
    return &image->functions[low - 1];
}

const struct image_symbol *image_function(const struct image *image,
                                          uint64_t address)
{
    const struct image_symbol *found = NULL;

    for (; image != NULL && found == NULL; image = image->next)
        found = find(image, address);
    return found;
}

bool image_object(const struct image *image, const char *name,
                  uint64_t *address)
{
    for (size_t i = 0; i < image->object_count; ++i) {
        if (strcmp(image->objects[i].name, name) == 0) {
            *address = image->objects[i].start;
            return true;
        }
    }
    return false;
}

bool image_fits(const struct image *image, const struct event_hello *hello,
                bool force)
{
    struct event_hello ours = {.build_id_bytes = image->build_id_bytes};
    char here[65], there[65];

    memcpy(ours.build_id, image->build_id, sizeof ours.build_id);
    if (hello->build_id_bytes == 0 || image->build_id_bytes == 0)
        return true;
    if (hello->build_id_bytes == image->build_id_bytes &&
        memcmp(hello->build_id, image->build_id, image->build_id_bytes) == 0)
        return true;
    metadata_build_id(&ours, here);
    metadata_build_id(hello, there);
    log_error("%s is not the image that was profiled: its build-id is %s, but "
              "the guest's is %s%s",
              image->path, here, there,
              force ? "" : "; give the right one with -k, or --force");
    return force;
}

void image_close(struct image *image)
{
    if (image->next != NULL)
        image_close(image->next);
    free(image->next);
    for (size_t i = 0; i < image->object_count; ++i)
        free((char *)image->objects[i].name);
    free(image->functions);
    free(image->objects);
    free(image->own_path);
    *image = (struct image){0};
}
