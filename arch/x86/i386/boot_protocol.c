/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a Multiboot 1 loader (GRUB, QEMU's -kernel) leaves: one structure whose
 * flags tell which of its fields are there.
 */

#include "boot_info.h"
#include "last_word.h"

#include <arch/boot.h>
#include <multiboot.h>

typedef void range_taker(uint64_t begin, uint64_t bytes);

/*
 * Calls (take) for each entry of the map that is available or not, as asked.
 * An entry's `size` does not count itself and may be more than we know of.
 */
static void each_range(const struct multiboot_info *info, bool available,
                       range_taker *take)
{
    uintptr_t at = info->mmap_addr;
    const uintptr_t end = at + info->mmap_length;

    while (at < end && end - at >= sizeof(struct multiboot_mmap_entry)) {
        const struct multiboot_mmap_entry *entry = (const void *)at;

        if ((entry->type == MULTIBOOT_MEMORY_AVAILABLE) == available)
            take(entry->addr, entry->len);
        if (entry->size > end - at)
            return;
        at += entry->size + sizeof(entry->size);
    }
}

static void read_memory(const struct multiboot_info *info)
{
    if ((info->flags & MULTIBOOT_INFO_MEM_MAP) != 0 && info->mmap_length != 0) {
        arch_boot.memory_map = true;
        arch_boot.memory_source = "the loader's memory map";
        each_range(info, true, boot_info_usable);
        each_range(info, false, boot_info_reserved);
    } else if ((info->flags & MULTIBOOT_INFO_MEMORY) != 0) {
        boot_info_no_map(info->mem_upper);
    } else {
        boot_info_no_map(0);
    }
}

static void read_modules(const struct multiboot_info *info)
{
    const struct multiboot_mod_list *module =
        (const void *)(uintptr_t)info->mods_addr;

    for (uint32_t i = 0; i < info->mods_count; i++, module++)
        boot_info_module(module->mod_start, module->mod_end,
                         (const char *)(uintptr_t)module->cmdline);
}

void boot_protocol_read(uint32_t magic, uintptr_t information)
{
    const struct multiboot_info *info = (const void *)information;

    if (magic != MULTIBOOT_BOOTLOADER_MAGIC || info == NULL) {
        last_word("boot: the loader does not speak Multiboot 1, eax ");
        last_word_hex(magic);
        last_word("\n");
        last_word_exit(LAST_WORD_EXIT_NO_BOOT);
    }
    arch_boot.loader = "multiboot";
    boot_info_command_line((info->flags & MULTIBOOT_INFO_CMDLINE) != 0
                               ? (const char *)(uintptr_t)info->cmdline
                               : NULL);
    if ((info->flags & MULTIBOOT_INFO_MODS) != 0)
        read_modules(info);
    read_memory(info);
}
