/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parses the information of a Multiboot 2 loader (GRUB) or a PVH loader (QEMU's
 * -kernel). Multiboot 2 has a magic number in eax, PVH at the beginning of its
 * information (pvh.c).
 */

#include "boot_info.h"
#include "emergency_console.h"
#include "multiboot2.h"
#include "pvh.h"

#include <arch/boot.h>

#define ACPI_ROOT_BYTES_MAX 36u

typedef void range_taker(uint64_t begin, uint64_t bytes);

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

/* Where the tag has a copy of the pointer, the original may be anywhere. */
static void read_multiboot2_acpi(const struct multiboot2_info *info)
{
    static uint64_t copy[(ACPI_ROOT_BYTES_MAX + 7) / 8];
    const struct multiboot2_tag *tag = find_tag(info, MULTIBOOT2_ACPI_2, NULL);
    const uint8_t *from;
    size_t bytes;

    if (tag == NULL)
        tag = find_tag(info, MULTIBOOT2_ACPI_1, NULL);
    if (tag == NULL)
        return;
    from = (const uint8_t *)(tag + 1);
    bytes = tag->bytes - sizeof *tag;
    if (bytes > ACPI_ROOT_BYTES_MAX)
        bytes = ACPI_ROOT_BYTES_MAX;
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)copy)[i] = from[i];
    arch_boot.acpi_root = (uintptr_t)copy;
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
    read_multiboot2_acpi(info);
    read_multiboot2_memory(info);
}

void boot_protocol_read(uint32_t magic, uintptr_t information)
{
    if (magic == MULTIBOOT2_LOADER_MAGIC) {
        read_multiboot2((const void *)information);
    } else if (!pvh_read(information)) {
        emergency_print("boot: not loaded by Multiboot 2 or PVH, eax ");
        emergency_print_hex(magic);
        emergency_print("\n");
        emergency_exit(EMERGENCY_EXIT_NO_BOOT);
    }
}
