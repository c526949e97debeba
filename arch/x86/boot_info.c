/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Normalizes the loader's memory map, modules, symbols and command line.
 *
 * Regions are always sorted and disjoint: a new region is merged with those it
 * touches, and a reserved range is cut out of those it overlaps. Page 0 is
 * excluded because it is never mapped.
 */

#include "boot_info.h"

#include "page.h"

#include <arch/boot.h>

#define LOWEST ((uint64_t)PAGE_BYTES)
#define HIGHEST ARCH_RAM_END
#define PAGE_MASK (~(uint64_t)(PAGE_BYTES - 1))
#define GIB ((uint64_t)1 << 30)
#define HIGH_MEMORY ((uint64_t)1 << 20)

struct arch_boot arch_boot;

/* Copies a string into (size) bytes; returns whether it fitted. */
static bool copy_string(char *to, size_t size, const char *from)
{
    size_t i = 0;

    if (from != NULL)
        for (; from[i] != '\0' && i + 1 < size; i++)
            to[i] = from[i];
    to[i] = '\0';
    return from == NULL || from[i] == '\0';
}

static void remove_region(size_t index)
{
    arch_boot.region_count--;
    for (size_t i = index; i < arch_boot.region_count; i++)
        arch_boot.region[i] = arch_boot.region[i + 1];
}

/* Inserts a region in order, merged with those that it touches. */
static void insert_region(uint64_t begin, uint64_t end)
{
    size_t index = 0, i = 0;

    while (i < arch_boot.region_count) {
        const struct arch_region region = arch_boot.region[i];

        if (region.end < begin || region.begin > end) {
            index += region.end < begin;
            i++;
            continue;
        }
        begin = region.begin < begin ? region.begin : begin;
        end = region.end > end ? region.end : end;
        remove_region(i);
    }
    if (arch_boot.region_count == ARCH_REGIONS_MAX) {
        arch_boot.regions_ignored++;
        return;
    }
    for (i = arch_boot.region_count++; i > index; i--)
        arch_boot.region[i] = arch_boot.region[i - 1];
    arch_boot.region[index].begin = (uintptr_t)begin;
    arch_boot.region[index].end = (uintptr_t)end;
}

void boot_info_usable(uint64_t begin, uint64_t bytes)
{
    uint64_t end = begin + bytes < begin ? UINT64_MAX : begin + bytes;

    if (end > (HIGHEST + (GIB - 1)) / GIB * GIB)
        arch_boot.regions_ignored++;
    begin = begin < LOWEST ? LOWEST : begin + (PAGE_BYTES - 1);
    begin &= PAGE_MASK;
    end = end > HIGHEST ? HIGHEST : end & PAGE_MASK;
    if (begin < end)
        insert_region(begin, end);
}

void boot_info_reserved(uint64_t begin, uint64_t bytes)
{
    uint64_t end = begin + bytes < begin ? UINT64_MAX : begin + bytes;
    size_t i = 0;

    begin &= PAGE_MASK;
    end = end > HIGHEST ? HIGHEST : (end + (PAGE_BYTES - 1)) & PAGE_MASK;
    while (i < arch_boot.region_count) {
        const struct arch_region region = arch_boot.region[i];

        if (region.end <= begin || region.begin >= end) {
            i++;
            continue;
        }
        remove_region(i);
        if (region.begin < begin)
            insert_region(region.begin, begin);
        if (region.end > end)
            insert_region(end, region.end);
        i = 0; /* the rest of it no longer overlaps */
    }
}

void boot_info_module(uint64_t begin, uint64_t end, const char *name)
{
    struct arch_module *module = &arch_boot.module[arch_boot.module_count];

    if (arch_boot.module_count == ARCH_MODULES_MAX || end < begin ||
        end > HIGHEST) {
        arch_boot.modules_ignored++;
        return;
    }
    arch_boot.module_count++;
    module->begin = (uintptr_t)begin;
    module->end = (uintptr_t)end;
    copy_string(module->name, sizeof(module->name), name);
}

/* Elf32_Shdr and Elf64_Shdr: members have the width of the image or 32 bits. In
 * a tag of Multiboot 2 they are aligned to no more than that. */
struct section {
    uint32_t name;
    uint32_t type;
    uintptr_t flags;
    uintptr_t address;
    uintptr_t offset;
    uintptr_t bytes;
    uint32_t link; /* of symbols: number of the section with their names */
    uint32_t info;
    uintptr_t alignment;
    uintptr_t entry_bytes;
} __attribute__((packed, aligned(4)));
_Static_assert(sizeof(struct section) == (sizeof(uintptr_t) == 8 ? 64 : 40),
               "as in the ELF file");

/* More sections, or larger headers, are not those of an image. */
#define SECTIONS_MAX 0xffffu
#define SECTION_BYTES_MAX 1024u
/* Loaders put them below 4 GiB. */
#define SECTIONS_END (((uint64_t)1 << 32) - PAGE_BYTES)

#define SECTION_SYMBOLS 2u
#define SECTION_STRINGS 3u

/* Where a section of (type) is in memory. Empty: it is another, or nowhere. */
static struct arch_region section_range(const struct section *section,
                                        uint32_t type)
{
    const uint64_t begin = section->address;
    const uint64_t bytes = section->bytes;

    if (section->type != type || begin < LOWEST || begin >= SECTIONS_END ||
        bytes == 0 || bytes > SECTIONS_END - begin)
        return (struct arch_region){0, 0};
    return (struct arch_region){(uintptr_t)begin, (uintptr_t)(begin + bytes)};
}

static const struct section *section_at(const void *headers, size_t number,
                                        size_t entry_bytes)
{
    return (const void *)((const char *)headers + number * entry_bytes);
}

void boot_info_sections(const void *headers, size_t count, size_t entry_bytes)
{
    struct arch_symbols *symbols = &arch_boot.symbols;

    if (headers == NULL || entry_bytes < sizeof(struct section) ||
        entry_bytes > SECTION_BYTES_MAX ||
        entry_bytes % sizeof(uint32_t) != 0 || count > SECTIONS_MAX)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct section *section = section_at(headers, i, entry_bytes);

        symbols->table = section_range(section, SECTION_SYMBOLS);
        if (symbols->table.end == 0 || section->link >= count)
            continue;
        symbols->names = section_range(
            section_at(headers, section->link, entry_bytes), SECTION_STRINGS);
        symbols->entry_bytes = section->entry_bytes;
        if (symbols->names.end != 0)
            return;
    }
    *symbols = (struct arch_symbols){0};
}

void boot_info_command_line(const char *text)
{
    char *line = arch_boot.command_line;
    size_t end = ARCH_COMMAND_LINE_MAX - 1;

    arch_boot.command_line_cut =
        !copy_string(line, sizeof(arch_boot.command_line), text);
    if (!arch_boot.command_line_cut)
        return;
    /* half of a word might be an option with another value */
    if (text[end] != ' ')
        while (end > 0 && line[end - 1] != ' ')
            end--;
    line[end] = '\0';
}

void boot_info_no_map(uint32_t upper_kib)
{
    arch_boot.memory_map = false;
    if (upper_kib != 0) {
        arch_boot.memory_source = "the loader's count of upper memory";
        boot_info_usable(HIGH_MEMORY, (uint64_t)upper_kib << 10);
    } else {
        arch_boot.memory_source = "the CMOS, as the loader passed no map";
        boot_info_usable(HIGH_MEMORY, boot_cmos_bytes());
    }
}
