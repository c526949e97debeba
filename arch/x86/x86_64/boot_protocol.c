/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parses the information of a Multiboot 2 loader (GRUB) or a PVH loader (QEMU's
 * -kernel). Multiboot 2 has a magic number in eax, PVH at the beginning of its
 * information. Addresses above 4 GiB are not mapped and treated as missing.
 */

#include "boot_info.h"
#include "emergency_console.h"
#include "multiboot2.h"
#include "pvh.h"

#include <arch/boot.h>

#define READABLE_END ((uint64_t)1 << 32)

typedef void range_taker(uint64_t begin, uint64_t bytes);

static const void *readable(uint64_t address)
{
    return address < READABLE_END ? (const void *)(uintptr_t)address : NULL;
}

/* The next tag of (type) after (after), or the first if NULL; NULL: none. */
static const struct multiboot2_tag *find_tag(const struct multiboot2_info *info,
                                             uint32_t type,
                                             const struct multiboot2_tag *after)
{
    uintptr_t at = (uintptr_t)(info + 1);
    const uintptr_t end = (uintptr_t)info + info->bytes;

    while (at < end && end - at >= sizeof(struct multiboot2_tag)) {
        const struct multiboot2_tag *tag = (const void *)at;

        if (tag->type == MULTIBOOT2_END || tag->bytes < sizeof(*tag) ||
            tag->bytes > end - at)
            return NULL;
        if (tag->type == type && tag > after)
            return tag;
        at += ((uintptr_t)tag->bytes + MULTIBOOT2_TAG_ALIGN - 1) &
              ~(uintptr_t)(MULTIBOOT2_TAG_ALIGN - 1);
    }
    return NULL;
}

static void each_multiboot2_range(const struct multiboot2_memory_map *map,
                                  bool available, range_taker *take)
{
    uintptr_t at = (uintptr_t)(map + 1);
    const uintptr_t end = (uintptr_t)map + map->tag.bytes;

    if (map->entry_bytes < sizeof(struct multiboot2_range))
        return;
    for (; at + map->entry_bytes <= end; at += map->entry_bytes) {
        const struct multiboot2_range *range = (const void *)at;

        if ((range->type == MULTIBOOT2_RANGE_AVAILABLE) == available)
            take(range->begin, range->bytes);
    }
}

static void read_multiboot2_memory(const struct multiboot2_info *info)
{
    const struct multiboot2_memory_map *map =
        (const void *)find_tag(info, MULTIBOOT2_MEMORY_MAP, NULL);
    const struct multiboot2_basic_memory *basic =
        (const void *)find_tag(info, MULTIBOOT2_BASIC_MEMORY, NULL);

    if (map == NULL) {
        boot_info_no_map(basic != NULL ? basic->upper_kib : 0);
        return;
    }
    arch_boot.memory_map = true;
    arch_boot.memory_source = "the loader's memory map";
    each_multiboot2_range(map, true, boot_info_usable);
    each_multiboot2_range(map, false, boot_info_reserved);
}

static void read_multiboot2_sections(const struct multiboot2_info *info)
{
    const struct multiboot2_sections *sections =
        (const void *)find_tag(info, MULTIBOOT2_SECTIONS, NULL);
    uint32_t room;

    if (sections == NULL || sections->tag.bytes < sizeof(*sections) ||
        sections->entry_bytes == 0)
        return;
    room = sections->tag.bytes - (uint32_t)sizeof(*sections);
    if (sections->count <= room / sections->entry_bytes)
        boot_info_sections(sections->headers, sections->count,
                           sections->entry_bytes);
}

static void read_multiboot2(const struct multiboot2_info *info)
{
    const struct multiboot2_string *line =
        (const void *)find_tag(info, MULTIBOOT2_COMMAND_LINE, NULL);
    const struct multiboot2_tag *tag = NULL;

    arch_boot.loader = "multiboot2";
    boot_info_command_line(line != NULL ? line->text : NULL);
    while ((tag = find_tag(info, MULTIBOOT2_MODULE, tag)) != NULL) {
        const struct multiboot2_module *module = (const void *)tag;

        boot_info_module(module->begin, module->end, module->name);
    }
    read_multiboot2_sections(info);
    read_multiboot2_memory(info);
}

static void each_pvh_range(const struct pvh_start_info *info, bool available,
                           range_taker *take)
{
    const struct pvh_range *range = readable(info->ranges);

    for (uint32_t i = 0; i < info->range_count; i++)
        if ((range[i].type == PVH_RANGE_RAM) == available)
            take(range[i].begin, range[i].bytes);
}

static void read_pvh_memory(const struct pvh_start_info *info)
{
    if (info->version < 1 || info->range_count == 0 ||
        readable(info->ranges) == NULL) {
        boot_info_no_map(0);
        return;
    }
    arch_boot.memory_map = true;
    arch_boot.memory_source = "the loader's memory map";
    each_pvh_range(info, true, boot_info_usable);
    each_pvh_range(info, false, boot_info_reserved);
}

static void read_pvh(const struct pvh_start_info *info)
{
    const struct pvh_module *module = readable(info->modules);

    arch_boot.loader = "pvh";
    boot_info_command_line(readable(info->command_line));
    for (uint32_t i = 0; module != NULL && i < info->module_count; i++)
        boot_info_module(module[i].begin, module[i].begin + module[i].bytes,
                         readable(module[i].command_line));
    read_pvh_memory(info);
}

/*
 * Whether text is where the magic number of PVH should be. QEMU's loader copies
 * the command line, of any length, to a buffer of 4,096 bytes that is followed
 * by its start_info.
 */
static bool overwritten_by_text(uint32_t word)
{
    for (unsigned i = 0; i < 4; i++) {
        uint8_t byte = (uint8_t)(word >> 8 * i);

        if (byte == '\0')
            return i > 0 || word == (PVH_START_MAGIC & ~0xffu);
        if ((byte < ' ' && byte != '\t') || byte > '~')
            return false;
    }
    return true;
}

void boot_protocol_read(uint32_t magic, uintptr_t information)
{
    const uint32_t *first_word = (const void *)information;

    if (magic == MULTIBOOT2_LOADER_MAGIC) {
        read_multiboot2((const void *)information);
    } else if (first_word != NULL && *first_word == PVH_START_MAGIC) {
        read_pvh((const void *)information);
    } else if (first_word != NULL && overwritten_by_text(*first_word)) {
        emergency_print("boot: the command line is longer than 4095 bytes: "
                        "QEMU's loader has overwritten its own data\n");
        emergency_exit(EMERGENCY_EXIT_NO_BOOT);
    } else {
        emergency_print("boot: not loaded by Multiboot 2 or PVH, eax ");
        emergency_print_hex(magic);
        emergency_print("\n");
        emergency_exit(EMERGENCY_EXIT_NO_BOOT);
    }
}
