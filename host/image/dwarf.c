/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source lines and inlined functions, by libdw.
 *
 * Which compilation unit has an address is what the units themselves say, read
 * once. libdwfl's own search relies on the table .debug_aranges, which clang
 * does not write: units that are not in it are not found, or taken for the one
 * before them. It is asked for units that name no addresses. An address in
 * inlined functions is in several nested scopes; each inlined one has the
 * position of its call, which is the line of the next outer one.
 */

#include "image/dwarf.h"

#include "image/line_code.h"

#include "base/index.h"
#include "base/memory.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <prof/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- paths of sources */

/* Whether the folder of (bytes) bytes at (end - bytes) is (folder). */
static bool ends_with_folder(const char *path, const char *end,
                             const char *folder, size_t bytes)
{
    const char *from = end - bytes;

    return (size_t)(end - path) >= bytes && memcmp(from, folder, bytes) == 0 &&
           (from == path || from[-1] == '/');
}

static void drop_repetition(char *path)
{
    char *twice = strstr(path, "//");
    const char *name, *slash;

    if (twice == NULL)
        return;
    name = twice + 2;
    slash = strrchr(name, '/');
    if (slash != NULL &&
        ends_with_folder(path, twice, name, (size_t)(slash - name)))
        memmove(twice, slash, strlen(slash) + 1);
}

/* Removes doubled slashes, "/./" and a repeated folder from (path): nasm
 * records the source's folder as the working directory, and the name of the
 * source with that folder, so libdw joins them to "a/b//a/b/x.asm". */
static void source_path_tidy(char *path)
{
    char *to = path;

    drop_repetition(path);
    for (const char *from = path; *from != '\0';) {
        if (strncmp(from, "//", 2) == 0)
            from += 1;
        else if (strncmp(from, "/./", 3) == 0)
            from += 2;
        else
            *to++ = *from++;
    }
    *to = '\0';
}

/* ---- the debug information */

/* Addresses of a unit, half-open, as libdwfl counts them. */
struct range {
    Dwarf_Addr begin;
    Dwarf_Addr end;
    Dwarf_Die *unit; /* libdwfl's */
    Dwarf_Addr bias;
};

struct dwarf {
    Dwfl *session;
    Dwfl_Module *module;
    struct strings paths; /* of sources, tidied */
    struct range *ranges; /* of all units, sorted by their beginning */
    size_t range_count;
    bool scanned; /* (ranges) are known */
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

struct dwarf *dwarf_open(const char *path)
{
    struct dwarf *dwarf = xreallocarray(NULL, 1, sizeof *dwarf);
    Dwarf_Addr bias;

    *dwarf = (struct dwarf){.session = dwfl_begin(&callbacks)};
    dwarf->module =
        dwarf->session != NULL
            ? dwfl_report_elf(dwarf->session, "image", path, -1, 0, true)
            : NULL;
    if (dwarf->module != NULL &&
        dwfl_report_end(dwarf->session, NULL, NULL) == 0 &&
        dwfl_module_getdwarf(dwarf->module, &bias) != NULL)
        return dwarf;
    dwarf_close(dwarf);
    return NULL;
}

static const char *name_of(Dwarf_Die *die)
{
    static const unsigned names[] = {DW_AT_linkage_name,
                                     DW_AT_MIPS_linkage_name, DW_AT_name};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        Dwarf_Attribute attribute;
        const char *name =
            dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));

        if (name != NULL)
            return name;
    }
    return "[inlined]";
}

static int number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;

    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 ||
        value > INT_MAX)
        return 0;
    return (int)value;
}

/* Where (die), an inlined function, was called. */
static void set_call_line(Dwarf_Die *unit, Dwarf_Die *die,
                          struct dwarf_frame *frame)
{
    Dwarf_Files *files;
    size_t count, file = (size_t)number_of(die, DW_AT_call_file);

    frame->line = number_of(die, DW_AT_call_line);
    if (dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
        frame->file = dwarf_filesrc(files, file, NULL, NULL);
}

/* The paths of (frames) as they are shown. */
static void tidy_paths(struct dwarf *dwarf, struct dwarf_frame *frames,
                       size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        char *path;

        if (frames[i].file == NULL)
            continue;
        path = xstrdup(frames[i].file);
        source_path_tidy(path);
        frames[i].file =
            strings_text(&dwarf->paths, strings_put(&dwarf->paths, path));
        free(path);
    }
}

static size_t put_scopes(Dwarf_Die *unit, Dwarf_Die *scopes, int scope_count,
                         struct dwarf_frame *frames, size_t room)
{
    size_t count = 0;

    for (int i = 0; i < scope_count && count + 1 < room; ++i) {
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        frames[count++].function = name_of(&scopes[i]);
        frames[count] = (struct dwarf_frame){0};
        set_call_line(unit, &scopes[i], &frames[count]);
    }
    return count + 1;
}

/* The scopes around (address) in the order of nesting. libdw's answer for an
 * address continues from an inlined function to where that function was
 * defined; so its innermost scope is asked again for the scopes around it. */
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
    Dwarf_Die *written = NULL;
    int count = dwarf_getscopes(unit, address, &written);

    if (count > 0)
        count = dwarf_getscopes_die(&written[0], scopes);
    free(written);
    return count;
}

static int by_begin(const void *left, const void *right)
{
    const struct range *a = left, *b = right;

    return (a->begin > b->begin) - (a->begin < b->begin);
}

static void scan_units(struct dwarf *dwarf)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = NULL;

    dwarf->scanned = true;
    while ((unit = dwfl_module_nextcu(dwarf->module, unit, &bias)) != NULL) {
        Dwarf_Addr base, begin, end;
        ptrdiff_t at = 0;

        while ((at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0) {
            if (begin >= end)
                continue;
            VECTOR_ADD(dwarf->ranges, dwarf->range_count,
                       (struct range){begin + bias, end + bias, unit, bias});
        }
    }
    if (dwarf->range_count > 0)
        qsort(dwarf->ranges, dwarf->range_count, sizeof *dwarf->ranges,
              by_begin);
}

static Dwarf_Die *unit_at(struct dwarf *dwarf, uint64_t address,
                          Dwarf_Addr *bias)
{
    const struct range *range;
    size_t count;

    if (!dwarf->scanned)
        scan_units(dwarf);
    count = vector_rows_until(dwarf->ranges, dwarf->range_count, sizeof *range,
                              address);
    range = count > 0 ? &dwarf->ranges[count - 1] : NULL;
    if (range == NULL || address >= range->end)
        return dwfl_module_addrdie(dwarf->module, address, bias);
    *bias = range->bias;
    return range->unit;
}

size_t dwarf_at(struct dwarf *dwarf, uint64_t address,
                struct dwarf_frame *frames, size_t room)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = unit_at(dwarf, address, &bias);
    Dwarf_Line *line;
    Dwarf_Die *scopes = NULL;
    int scope_count;
    size_t count;

    if (unit == NULL)
        return 0;
    frames[0] = (struct dwarf_frame){0};
    line = dwarf_getsrc_die(unit, address - bias);
    if (line != NULL) {
        frames[0].file = dwarf_linesrc(line, NULL, NULL);
        dwarf_lineno(line, &frames[0].line);
    }
    scope_count = scopes_at(unit, address - bias, &scopes);
    count = put_scopes(unit, scopes, scope_count, frames, room);
    free(scopes);
    tidy_paths(dwarf, frames, count);
    return count;
}

/* The lines of an image while they are read. */
struct table {
    struct image_line *lines;
    size_t count;
    struct strings sources;
};

static uint32_t source_of(struct table *table, Dwarf_Line *line)
{
    const char *name = dwarf_linesrc(line, NULL, NULL);
    char *path;
    uint32_t number;

    if (name == NULL)
        return 0;
    path = xstrdup(name);
    source_path_tidy(path);
    number = strings_put(&table->sources, path);
    free(path);
    return number;
}

static void put_line(struct table *table, Dwarf_Line *line, Dwarf_Addr bias)
{
    struct image_line put = {0};
    Dwarf_Addr address;
    bool ends = false;
    int number = 0;

    if (dwarf_lineaddr(line, &address) != 0)
        return;
    dwarf_lineendsequence(line, &ends);
    dwarf_lineno(line, &number);
    put.address = address + bias;
    if (!ends && number > 0) {
        put.source = source_of(table, line);
        put.line = put.source != 0 ? (uint32_t)number : 0;
    }
    VECTOR_ADD(table->lines, table->count, put);
}

/* A line and its place in the table as it was read: libdw takes the last one of
 * an address. */
struct ordered {
    struct image_line line;
    size_t number;
};

/* Where one sequence ends and another begins, that one's line is the last. */
static int by_address(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;

    if (a->line.address != b->line.address)
        return a->line.address < b->line.address ? -1 : 1;
    if ((a->line.source == 0) != (b->line.source == 0))
        return a->line.source == 0 ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void sort(struct table *table)
{
    struct ordered *all = xreallocarray(NULL, table->count, sizeof *all);

    for (size_t i = 0; i < table->count; ++i)
        all[i] = (struct ordered){table->lines[i], i};
    if (table->count > 0)
        qsort(all, table->count, sizeof *all, by_address);
    for (size_t i = 0; i < table->count; ++i)
        table->lines[i] = all[i].line;
    free(all);
}

/* Keeps the last entry of each address, and the first of each line. */
static void drop_repetitions(struct table *table)
{
    size_t kept = 0;

    for (size_t i = 0; i < table->count; ++i) {
        const struct image_line *line = &table->lines[i];

        if (i + 1 < table->count && line[1].address == line->address)
            continue;
        if (kept > 0 && table->lines[kept - 1].source == line->source &&
            table->lines[kept - 1].line == line->line)
            continue;
        table->lines[kept++] = *line;
    }
    table->count = kept;
}

static void read_table(struct dwarf *dwarf, struct table *table)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = NULL;

    while ((unit = dwfl_module_nextcu(dwarf->module, unit, &bias)) != NULL) {
        Dwarf_Lines *lines;
        size_t count;

        if (dwarf_getsrclines(unit, &lines, &count) != 0)
            continue;
        for (size_t i = 0; i < count; ++i)
            put_line(table, dwarf_onesrcline(lines, i), bias);
    }
    sort(table);
    drop_repetitions(table);
}

void dwarf_read_lines(struct image *image)
{
    const char *path = image_file(image);
    struct dwarf *dwarf = path != NULL ? dwarf_open(path) : NULL;
    struct table table = {0};

    if (dwarf == NULL)
        return;
    read_table(dwarf, &table);
    dwarf_close(dwarf);
    image->lines = table.lines;
    image->line_count = table.count;
    for (uint32_t i = 1; i < strings_count(&table.sources); ++i) {
        VECTOR_ADD(image->sources, image->source_count,
                   xstrdup(strings_text(&table.sources, i)));
    }
    strings_free(&table.sources);
}

/* ---- where lines and functions are */

#define DEPTH_MAX 256 /* of scopes */

/* What is read. */
struct reading {
    struct line_code *code;
    const struct image *image;
    struct strings sources;
    Dwarf_Die *unit;
    Dwarf_Addr bias;
    uint32_t copies;
};

/* What is not in the image, as functions that the linker has left out, begins
 * at 0. */
static bool is_there(const struct reading *reading, uint64_t begin,
                     uint64_t end)
{
    return begin < end && begin >= reading->image->begin &&
           end <= reading->image->end;
}

static void put_piece(struct reading *reading, struct code_piece piece)
{
    struct line_code *code = reading->code;

    VECTOR_ADD(code->pieces, code->piece_count, piece);
}

static uint32_t number_of_path(struct strings *sources, const char *name)
{
    char *path = xstrdup(name);
    uint32_t number;

    source_path_tidy(path);
    number = strings_put(sources, path);
    free(path);
    return number;
}

static char *shown_name(Dwarf_Die *die)
{
    static struct prof_demangle_work work;
    static char text[65536];

    prof_demangle_as(PROF_LANGUAGE_AUTO_BRIEF, name_of(die), text, sizeof text,
                     &work);
    return xstrdup(text);
}

/* The ranges of (die), a function or where it was inlined. */
static void put_copy(struct reading *reading, Dwarf_Die *die)
{
    bool inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
    struct dwarf_frame call = {0};
    Dwarf_Addr base, begin, end;
    ptrdiff_t at = 0;

    if (inlined)
        set_call_line(reading->unit, die, &call);
    while ((at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
        struct code_piece piece = {.begin = begin + reading->bias,
                                   .end = end + reading->bias,
                                   .inlined = inlined,
                                   .copy = reading->copies};

        if (!is_there(reading, piece.begin, piece.end))
            continue;
        if (call.file != NULL && call.line > 0) {
            piece.source = number_of_path(&reading->sources, call.file);
            piece.line = (uint32_t)call.line;
        }
        piece.function = shown_name(die);
        put_piece(reading, piece);
    }
    ++reading->copies;
}

static bool has_functions(int tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        return true;
    default:
        return false;
    }
}

static void put_copies(struct reading *reading, Dwarf_Die *parent, int depth)
{
    Dwarf_Die die;

    if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);

        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            put_copy(reading, &die);
        if (has_functions(tag))
            put_copies(reading, &die, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void put_lines(struct reading *reading)
{
    const struct image *image = reading->image;

    for (size_t i = 0; i + 1 < image->line_count; ++i) {
        const struct image_line *line = &image->lines[i];

        if (line->source == 0 ||
            !is_there(reading, line->address, line[1].address))
            continue;
        put_piece(reading,
                  (struct code_piece){
                      .begin = line->address,
                      .end = line[1].address,
                      .source = strings_put(&reading->sources,
                                            image->sources[line->source - 1]),
                      .line = line->line,
                  });
    }
}

void line_code_read(struct line_code *code, struct image *image)
{
    const char *path = image_file(image);
    struct dwarf *dwarf = path != NULL ? dwarf_open(path) : NULL;
    struct reading reading = {.code = code, .image = image};

    *code = (struct line_code){.image = image->path};
    if (dwarf == NULL)
        return;
    if (image->line_count == 0)
        dwarf_read_lines(image);
    put_lines(&reading);
    while ((reading.unit = dwfl_module_nextcu(dwarf->module, reading.unit,
                                              &reading.bias)) != NULL)
        put_copies(&reading, reading.unit, 0);
    dwarf_close(dwarf);
    for (uint32_t i = 1; i < strings_count(&reading.sources); ++i)
        VECTOR_ADD(code->sources, code->source_count,
                   xstrdup(strings_text(&reading.sources, i)));
    strings_free(&reading.sources);
}

int dwarf_language(struct dwarf *dwarf, uint64_t address)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = unit_at(dwarf, address, &bias);

    return unit != NULL ? dwarf_srclang(unit) : -1;
}

void dwarf_close(struct dwarf *dwarf)
{
    if (dwarf != NULL && dwarf->session != NULL)
        dwfl_end(dwarf->session);
    if (dwarf != NULL)
        strings_free(&dwarf->paths);
    if (dwarf != NULL)
        free(dwarf->ranges);
    free(dwarf);
}
