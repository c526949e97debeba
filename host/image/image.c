/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of an ELF file, by libelf, or of several. What counts as a function,
 * and which of several names an address has, is decided as for the guest's own
 * table (function_symbols.h). */

#include "image/image.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/log.h"
#include "base/memory.h"
#include "symbols/function_symbols.h"
#include "symbols/space.h"
#include "trace/metadata.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <prof/error.h>
#include <prof/symbols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- program headers */

static struct segment *read_headers(Elf *elf, size_t *count)
{
    struct segment *segments = NULL;
    size_t headers = space_headers(elf);
    GElf_Phdr header;

    for (size_t i = 0; i < headers; ++i) {
        if (gelf_getphdr(elf, (int)i, &header) == NULL)
            break;
        if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0)
            continue;
        vector_reserve_one(&segments, *count, sizeof *segments);
        segments[(*count)++] = (struct segment){
            header.p_vaddr, header.p_memsz, header.p_offset, header.p_align};
    }
    return segments;
}

struct segment *segments_read(const char *path, size_t *count)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct segment *segments = NULL;
    Elf *elf = NULL;

    *count = 0;
    if (file < 0)
        return NULL;
    if (elf_version(EV_CURRENT) != EV_NONE)
        elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    if (elf != NULL)
        segments = read_headers(elf, count);
    elf_end(elf);
    close(file);
    return segments;
}

/* ---- the symbol table that `parasite embed` put into an image
 *
 * The guest's own reader (profiler/symbols) checks the table and expands its
 * names. It takes tables of its own width only, so a copy of one for i386 says
 * 64 once its checksum has been verified; nothing else in it has a width. */

/* The space in (elf) and the head of its table; false if there is none. */
static bool find_head(Elf *elf, struct space *space, struct prof_symtab *head)
{
    size_t file_bytes;
    const char *file = elf_rawfile(elf, &file_bytes);

    if (space_find(elf, space) != SPACE_FOUND || space->bytes < sizeof *head)
        return false;
    memcpy(head, file + space->at, sizeof *head);
    return le32toh(head->magic) == PROF_SYMTAB_MAGIC &&
           le32toh(head->version) == PROF_SYMTAB_VERSION;
}

/* The build-id in the table's head, if there is one; the rest is unread. */
static void embedded_read_id(struct image *image, Elf *elf)
{
    struct prof_symtab head;
    struct space space;

    if (!find_head(elf, &space, &head) ||
        le32toh(head.build_id_bytes) > sizeof image->build_id)
        return;
    image->build_id_bytes = le32toh(head.build_id_bytes);
    memcpy(image->build_id, head.build_id, image->build_id_bytes);
}

/* The checksum of a table with a zero in its place. */
static uint32_t checksum(struct prof_symtab *table, uint32_t bytes)
{
    table->crc = 0;
    return crc32c(0, table, bytes);
}

/* Makes a table of the other width one of ours; false if it is damaged. */
static bool widen(struct prof_symtab *table, uint32_t room)
{
    uint32_t bytes = table->total_bytes, crc = table->crc;

    if (table->pointer_bits != 32)
        return true;
    if (bytes < sizeof *table || bytes > room || checksum(table, bytes) != crc)
        return false;
    table->pointer_bits = 8 * sizeof(void *);
    table->crc = checksum(table, bytes);
    return true;
}

static void put_function(struct image *image, uint64_t start, uint64_t end,
                         uint32_t entry)
{
    static char name[PROF_SYMTAB_NAME_MAX + 1];
    struct prof_symbol symbol = {.index = entry};

    prof_symbol_name(&symbol, name, sizeof name);
    VECTOR_ADD(image->functions, image->count,
               (struct image_symbol){start, end, xstrdup(name)});
}

/* Reads all functions of the table, of either width, into (image), which has
 * none. Leaves it as it is if there is no table, or a damaged one. */
static void embedded_read(struct image *image, Elf *elf)
{
    size_t file_bytes;
    const char *file = elf_rawfile(elf, &file_bytes);
    struct prof_symtab head, *table;
    struct space space;
    const uint32_t *offsets;
    const uint8_t *gaps;

    if (!find_head(elf, &space, &head))
        return;
    table = xreallocarray(NULL, space.bytes, 1);
    memcpy(table, file + space.at, space.bytes);
    if (!widen(table, space.bytes) ||
        prof_symbols_open(table, space.bytes, NULL, 0) != PROF_OK) {
        free(table);
        return;
    }
    offsets = (const void *)((const uint8_t *)table + table->offsets_at);
    gaps = (const uint8_t *)table + table->gaps_at;
    for (uint32_t i = 0; i < prof_symbols_count(); ++i) {
        if (gaps[i] != PROF_SYMTAB_HOLE)
            put_function(image, table->base + offsets[i],
                         table->base + offsets[i + 1] - gaps[i], i);
    }
    prof_symbols_open(NULL, 0, NULL, 0);
    free(table);
}

/* ---- symbols */

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
        VECTOR_ADD(symbols->functions, symbols->count, function);
    } else if (type == STT_OBJECT || (header.sh_flags & SHF_EXECINSTR) == 0) {
        VECTOR_ADD(image->objects, image->object_count,
                   (struct image_symbol){
                       symbol->st_value,
                       checked_add(symbol->st_value, symbol->st_size),
                       xstrdup(name)});
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

/* Reads one of them, which must outlive (image). An ELF file without symbols
 * has the names that `parasite embed` put into it. */
static bool try_one(struct image *image, const char *path, char *why)
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
        return image_open_list(image, path, why);
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
    char here[65], there[65];

    if (image_is_of(image, hello->build_id, hello->build_id_bytes))
        return true;
    bytes_hex(image->build_id, image->build_id_bytes, here);
    metadata_build_id(hello, there);
    log_error("%s is not the image that was profiled: its build-id is %s, but "
              "the guest's is %s%s",
              image->path, here, there,
              force ? "" : "; give the right one with -k, or --force");
    return force;
}

/* ---- several images, as one list of paths */

#define APART (1u << 20) /* code that is moved begins at a multiple of that */

static bool is_file(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
           access(path, R_OK) == 0;
}

/* The first of *(paths), to be freed, which is taken off; NULL if there is
 * none. A name that is a file's is not split. */
static char *next_path(const char **paths)
{
    const char *mark = NULL;
    char *path;

    if (**paths == '\0')
        return NULL;
    if (!is_file(*paths))
        mark = strchr(*paths, IMAGE_PATHS_MARK);
    path = xstrdup(*paths);
    if (mark != NULL)
        path[mark - *paths] = '\0';
    *paths = mark != NULL ? mark + 1 : *paths + strlen(*paths);
    return path;
}

static bool overlaps(const struct image *a, const struct image *b)
{
    return a->begin + a->moved < b->end + b->moved &&
           b->begin + b->moved < a->end + a->moved;
}

/* Moves (added) up until it is apart from all that precede it; false if there
 * is no room above them. */
static bool keep_apart(const struct image *first, struct image *added)
{
    const struct image *at = first;

    while (at != added) {
        if (overlaps(at, added)) {
            uint64_t least = at->end + at->moved - added->begin;

            added->moved = checked_add(least, APART - 1) / APART * APART;
            if (added->moved < least ||
                added->moved > UINT64_MAX - added->end) {
                added->moved = 0;
                return false;
            }
            at = first;
        } else {
            at = at->next;
        }
    }
    for (size_t i = 0; i < added->count; ++i) {
        struct image_symbol *function = &added->functions[i];

        function->start = checked_add(function->start, added->moved);
        function->end = checked_add(function->end, added->moved);
    }
    return true;
}

bool image_try(struct image *image, const char *paths, char *why)
{
    struct image *last = image;
    char *path = next_path(&paths);
    bool fine = path != NULL;

    snprintf(why, IMAGE_WHY_MAX, "an image has a name");
    *image = (struct image){0};
    while (path != NULL && fine) {
        fine = try_one(last, path, why);
        last->own_path = path;
        if (fine && !keep_apart(image, last)) {
            snprintf(why, IMAGE_WHY_MAX,
                     "%s: overlaps another image, and there are no addresses "
                     "above it",
                     path);
            fine = false;
        }
        path = fine ? next_path(&paths) : NULL;
        if (path != NULL) {
            last->next = xreallocarray(NULL, 1, sizeof *last->next);
            *last->next = (struct image){0};
            last = last->next;
        }
    }
    if (!fine)
        image_close(image);
    return fine;
}

void image_open(struct image *image, const char *paths)
{
    char why[IMAGE_WHY_MAX];

    if (!image_try(image, paths, why))
        die("%s", why);
}

bool image_is_there(const char *paths)
{
    bool there = *paths != '\0';
    char *path;

    while (there && (path = next_path(&paths)) != NULL) {
        there = is_file(path);
        free(path);
    }
    return there;
}

char *image_paths_add(const char *paths, const char *path)
{
    size_t used = paths != NULL ? strlen(paths) + 1 : 0;
    char *both = xreallocarray(NULL, used + strlen(path) + 1, 1);

    if (used > 0)
        sprintf(both, "%s%c", paths, IMAGE_PATHS_MARK);
    strcpy(both + used, path);
    return both;
}

char *image_paths_real(const char *paths)
{
    char *whole = NULL, *path;

    while ((path = next_path(&paths)) != NULL) {
        char *real = realpath(path, NULL);
        char *longer = image_paths_add(whole, real != NULL ? real : path);

        free(whole);
        free(real);
        free(path);
        whole = longer;
    }
    return whole;
}
