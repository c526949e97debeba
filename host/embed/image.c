/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the relevant parts of an ELF file with libelf, which supports both
 * widths.
 *
 * libelf accepts no header that leads it out of the file. Its message is
 * general then, so the usual case, a truncated file, is checked first.
 */

#include "embed/embed.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sections {
    Elf_Scn *symbols; /* SHT_SYMTAB, NULL = stripped */
    Elf_Scn **all;    /* by index */
    size_t count;
};

static void need_inside(const struct image *image, uint64_t at, uint64_t bytes,
                        uint64_t file_bytes, const char *what)
{
    if (at > file_bytes || bytes > file_bytes - at)
        embed_fail(image->path, "truncated: %s lie beyond the end of the file",
                   what);
}

static Elf *open_elf(struct image *image, uint64_t *file_bytes)
{
    struct stat status;
    Elf *elf;

    image->file = open(image->path, O_RDONLY);
    if (image->file < 0 || fstat(image->file, &status) < 0)
        embed_fail(image->path, "cannot be read: %s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        embed_fail(image->path, "not a file");
    elf_version(EV_CURRENT);
    elf = elf_begin(image->file, ELF_C_READ_MMAP, NULL);
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF)
        embed_fail(image->path, "not an ELF file: embed before the image is "
                                "converted, such as by objcopy -O binary");
    *file_bytes = (uint64_t)status.st_size;
    return elf;
}

static void read_header(struct image *image, Elf *elf, uint64_t file_bytes)
{
    GElf_Ehdr header;

    if (gelf_getehdr(elf, &header) == NULL)
        embed_fail(image->path, "truncated: no whole ELF header");
    image->bits = header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    if (header.e_ident[EI_DATA] != ELFDATA2LSB)
        embed_fail(image->path, "a big-endian file: the table would not fit");
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
        embed_fail(image->path, "not a linked image: addresses are not final");
    need_inside(image, header.e_shoff,
                (uint64_t)header.e_shnum * header.e_shentsize, file_bytes,
                "the section headers");
}

/* Linkers pad a build-id's note to 4 bytes, even if a linker script aligned the
 * section to 8, which libelf would take for the other kind. */
static void note_build_id(struct image *image, Elf *elf,
                          const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header->sh_offset,
                                          header->sh_size, ELF_T_NHDR);
    size_t at = 0, next, name, id;
    GElf_Nhdr note;

    if (data == NULL)
        return;
    while ((next = gelf_getnote(data, at, &note, &name, &id)) > 0) {
        const char *bytes = data->d_buf;

        at = next;
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof "GNU" ||
            memcmp(bytes + name, "GNU", sizeof "GNU") != 0)
            continue;
        if (note.n_descsz > PROF_BUILD_ID_MAX)
            embed_fail(image->path, "a build-id of %u bytes: %u are the most",
                       note.n_descsz, PROF_BUILD_ID_MAX);
        memcpy(image->build_id, bytes + id, note.n_descsz);
        image->build_id_bytes = note.n_descsz;
    }
}

static void read_section(struct image *image, Elf *elf, Elf_Scn *section,
                         struct sections *sections, uint64_t file_bytes)
{
    GElf_Shdr header;

    if (gelf_getshdr(section, &header) == NULL)
        embed_fail(image->path, "damaged: section header %zu",
                   elf_ndxscn(section));
    if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL)
        need_inside(image, header.sh_offset, header.sh_size, file_bytes,
                    "a section's bytes");
    if (header.sh_type == SHT_SYMTAB)
        sections->symbols = section;
    if (header.sh_type == SHT_NOTE)
        note_build_id(image, elf, &header);
}

static struct sections read_sections(struct image *image, Elf *elf,
                                     uint64_t file_bytes)
{
    struct sections sections = {0};
    Elf_Scn *section = NULL;

    if (elf_getshdrnum(elf, &sections.count) == 0 && sections.count == 0)
        return sections;
    if (sections.count == 0)
        embed_fail(image->path, "damaged: %s", elf_errmsg(-1));
    sections.all = embed_alloc(sections.count, sizeof *sections.all);
    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (elf_ndxscn(section) < sections.count)
            sections.all[elf_ndxscn(section)] = section;
        read_section(image, elf, section, &sections, file_bytes);
    }
    return sections;
}

/* Makes (*out) of symbol (index); returns false if it is not a function. */
static bool read_symbol(Elf *elf, const struct sections *sections,
                        Elf_Data *data, size_t strings, int index,
                        struct function *out)
{
    GElf_Sym symbol;
    GElf_Shdr header;

    if (gelf_getsym(data, index, &symbol) == NULL)
        return false;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE ||
        symbol.st_shndx >= sections->count ||
        gelf_getshdr(sections->all[symbol.st_shndx], &header) == NULL)
        return false;
    return function_of_symbol(&symbol, &header,
                              elf_strptr(elf, strings, symbol.st_name), out);
}

/* Adds what a 32-bit file cuts off the addresses of 64-bit code. */
static void complete(const struct space *space, struct function *function)
{
    function->start = space_full(space, function->start);
    function->limit = space_full(space, function->limit - 1) + 1;
}

static void read_symbols(struct image *image, Elf *elf,
                         const struct sections *sections)
{
    struct functions *found = &image->symbols;
    GElf_Shdr header;
    Elf_Data *data;
    size_t count;

    if (sections->symbols == NULL)
        return;
    data = elf_getdata(sections->symbols, NULL);
    if (data == NULL || gelf_getshdr(sections->symbols, &header) == NULL)
        embed_fail(image->path, "damaged: its symbol table cannot be read");
    count = data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    if (count > INT32_MAX)
        embed_fail(image->path, "more than 2,147,483,647 symbols");
    found->at = embed_alloc(count, sizeof *found->at);
    for (size_t i = 0; i < count; ++i) {
        if (read_symbol(elf, sections, data, header.sh_link, (int)i,
                        &found->at[found->count]))
            complete(&image->space, &found->at[found->count++]);
    }
    qsort(found->at, found->count, sizeof *found->at, function_compare);
}

void embed_open(struct image *image, const char *path)
{
    struct sections sections;
    uint64_t file_bytes;
    Elf *elf;

    *image = (struct image){.path = path};
    elf = open_elf(image, &file_bytes);
    image->elf = elf;
    read_header(image, elf, file_bytes);
    image->space_result = space_find(elf, &image->space);
    if (image->space_result == SPACE_FOUND)
        image->bits = image->space.bits;
    sections = read_sections(image, elf, file_bytes);
    read_symbols(image, elf, &sections);
    image->stripped = sections.symbols == NULL;
    free(sections.all);
}

void embed_close(struct image *image)
{
    free(image->symbols.at);
    elf_end(image->elf);
    close(image->file);
}

void embed_need_symbols(const struct image *image)
{
    if (image->stripped)
        embed_fail(image->path, "no symbol table: link it without -s and do "
                                "not strip it before this step");
    if (image->symbols.count == 0)
        embed_fail(image->path, "no function in any executable section");
}

void embed_need_build_id(const struct image *image)
{
    if (image->build_id_bytes == 0)
        embed_fail(image->path, "no build-id: link it with --build-id=sha1 "
                                "and keep the section .note.gnu.build-id");
}

/* ---- the functions of a table, one for each address */

/* Keeps the most functions that are within 32 bits of each other. */
static void keep_reachable(struct functions *all)
{
    size_t best = 0, most = 0, end = 0;

    for (size_t begin = 0; begin < all->count && end < all->count; ++begin) {
        uint64_t start = all->at[begin].start;

        while (end < all->count &&
               all->at[end].start - start + all->at[end].size <= UINT32_MAX)
            ++end;
        if (end - begin > most) {
            most = end - begin;
            best = begin;
        }
    }
    memmove(all->at, all->at + best, most * sizeof *all->at);
    all->beyond = all->count - most;
    all->count = most;
}

struct functions select_functions(const struct functions *all)
{
    struct functions chosen = {embed_alloc(all->count, sizeof *all->at), 0, 0};

    chosen.count = functions_choose(all->at, all->count, chosen.at);
    keep_reachable(&chosen);
    return chosen;
}
