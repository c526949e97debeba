/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of an ELF file, by libelf.
 *
 * Functions without a size, as assembly makes them, reach up to the next
 * symbol; their labels with a dot, local ones, are none. A bare label within a
 * function that has a size is a place in it, and so is a local one behind a
 * global one: loops in assembly that marks no functions (tools/embed/select.c
 * says the same for the guest). Of several names for one address the largest is
 * taken.
 */

#include "image.h"

#include "metadata.h"
#include "parasite.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_note(struct image *image, Elf_Data *data)
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
    }
}

static bool is_code(Elf *elf, const GElf_Sym *symbol)
{
    Elf_Scn *section = symbol->st_shndx < SHN_LORESERVE
                           ? elf_getscn(elf, symbol->st_shndx)
                           : NULL;
    GElf_Shdr header;

    return section != NULL && gelf_getshdr(section, &header) != NULL &&
           (header.sh_flags & SHF_EXECINSTR) != 0;
}

static void put_symbol(struct image *image, Elf *elf, const GElf_Sym *symbol,
                       const char *name)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    struct image_symbol put = {
        symbol->st_value, symbol->st_value + symbol->st_size, name,
        type == STT_NOTYPE, GELF_ST_BIND(symbol->st_info) == STB_LOCAL};

    if (name == NULL || *name == '\0' || symbol->st_shndx == SHN_UNDEF ||
        type == STT_SECTION || type == STT_FILE)
        return;
    if (type == STT_NOTYPE && strchr(name, '.') != NULL)
        return;
    put.name = copied(name);
    if (is_code(elf, symbol) && type != STT_OBJECT) {
        room_for_one(&image->functions, image->count, sizeof put);
        image->functions[image->count++] = put;
    } else {
        room_for_one(&image->objects, image->object_count, sizeof put);
        image->objects[image->object_count++] = put;
    }
}

static void read_symbols(struct image *image, Elf *elf, Elf_Data *data,
                         const GElf_Shdr *header)
{
    size_t count =
        header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;

    for (size_t i = 0; i < count; ++i) {
        GElf_Sym symbol;

        if (gelf_getsym(data, (int)i, &symbol) != NULL)
            put_symbol(image, elf, &symbol,
                       elf_strptr(elf, header->sh_link, symbol.st_name));
    }
}

static void read_sections(struct image *image, Elf *elf)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        Elf_Data *data;

        if (gelf_getshdr(section, &header) == NULL ||
            (header.sh_type != SHT_NOTE && header.sh_type != SHT_SYMTAB))
            continue;
        data = elf_getdata(section, NULL);
        if (data == NULL)
            continue;
        if (header.sh_type == SHT_NOTE)
            read_note(image, data);
        else
            read_symbols(image, elf, data, &header);
    }
}

/* By address; sized symbols before those without a size. */
static int by_start(const void *left, const void *right)
{
    const struct image_symbol *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->end < b->end) - (a->end > b->end);
}

/* Whether (label) is a place in (before), the function in front of it. */
static bool is_inside(const struct image_symbol *label,
                      const struct image_symbol *before)
{
    if (!label->label || label->end != label->start)
        return false;
    if (before->end != before->start)
        return label->start < before->end;
    return label->local && before->label && !before->local;
}

static void sort_functions(struct image *image)
{
    size_t kept = 0;

    qsort(image->functions, image->count, sizeof *image->functions, by_start);
    for (size_t i = 0; i < image->count; ++i) {
        struct image_symbol *next = &image->functions[i];

        if (kept > 0 && (image->functions[kept - 1].start == next->start ||
                         is_inside(next, &image->functions[kept - 1])))
            continue;
        if (kept > 0 &&
            image->functions[kept - 1].end == image->functions[kept - 1].start)
            image->functions[kept - 1].end = next->start;
        image->functions[kept++] = *next;
    }
    image->count = kept;
    if (kept > 0 &&
        image->functions[kept - 1].end == image->functions[kept - 1].start)
        ++image->functions[kept - 1].end;
}

void image_open(struct image *image, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf;

    *image = (struct image){.path = path};
    if (file < 0)
        fail("%s: cannot be read: %s", path, strerror(errno));
    elf_version(EV_CURRENT);
    elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF)
        fail("%s: is not an ELF file; -k takes the image as it was linked",
             path);
    read_sections(image, elf);
    elf_end(elf);
    close(file);
    sort_functions(image);
}

const struct image_symbol *image_function(const struct image *image,
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

bool image_fits(const struct image *image, const struct model_hello *hello,
                bool force)
{
    struct model_hello ours = {.build_id_bytes = image->build_id_bytes};
    char here[65], there[65];

    memcpy(ours.build_id, image->build_id, sizeof ours.build_id);
    if (hello->build_id_bytes == 0 || image->build_id_bytes == 0)
        return true;
    if (hello->build_id_bytes == image->build_id_bytes &&
        memcmp(hello->build_id, image->build_id, image->build_id_bytes) == 0)
        return true;
    metadata_build_id(&ours, here);
    metadata_build_id(hello, there);
    complain("%s is not the image that was profiled: its build-id is %s, the "
             "guest's is %s%s",
             image->path, here, there,
             force ? "" : "; give the right one with -k, or --force");
    return force;
}

void image_close(struct image *image)
{
    for (size_t i = 0; i < image->object_count; ++i)
        free((char *)image->objects[i].name);
    free(image->functions);
    free(image->objects);
    *image = (struct image){0};
}
