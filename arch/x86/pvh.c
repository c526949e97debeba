/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parses the information of a PVH loader (QEMU's -kernel, Firecracker), the
 * same for both widths. Addresses above 4 GiB are not mapped yet and treated as
 * missing.
 */

#include "pvh.h"

#include "boot_info.h"
#include "emergency_console.h"

#include <arch/boot.h>

#define READABLE_END ((uint64_t)1 << 32)

typedef void range_taker(uint64_t begin, uint64_t bytes);

static const void *readable(uint64_t address)
{
    return address < READABLE_END ? (const void *)(uintptr_t)address : NULL;
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

static void read(const struct pvh_start_info *info)
{
    const struct pvh_module *module = readable(info->modules);

    arch_boot.loader = "pvh";
    boot_info_command_line(readable(info->command_line));
    arch_boot.acpi_root = (uintptr_t)readable(info->rsdp);
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

bool pvh_is_at(uintptr_t information)
{
    const uint32_t *first_word = (const void *)information;

    return first_word != NULL && *first_word == PVH_START_MAGIC;
}

bool pvh_read(uintptr_t information)
{
    const uint32_t *first_word = (const void *)information;

    if (pvh_is_at(information)) {
        read((const void *)information);
        return true;
    }
    if (first_word == NULL || !overwritten_by_text(*first_word))
        return false;
    emergency_print("boot: the command line is longer than 4095 bytes: QEMU's "
                    "loader has overwritten its own data\n");
    emergency_exit(EMERGENCY_EXIT_NO_BOOT);
}
