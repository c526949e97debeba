/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parses the information of a Multiboot 1 loader (GRUB, QEMU's -kernel), one
 * structure whose flags say which of its fields are valid, or of a PVH loader
 * (pvh.c).
 */

#include "boot_info.h"
#include "emergency_console.h"
#include "pvh.h"

#include <arch/boot.h>
#include <multiboot.h>

typedef void range_taker(uint64_t begin, uint64_t bytes);

/*
 * Calls (take) for each entry of the map whose type is (available) or not. The
 * `size` of an entry excludes itself and may exceed the fields defined here.
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

    /* qboot, the firmware of QEMU's microvm, has Multiboot's magic in eax when
     * it enters by PVH */
    if ((magic != MULTIBOOT_BOOTLOADER_MAGIC || pvh_is_at(information)) &&
        pvh_read(information))
        return;
    if (magic != MULTIBOOT_BOOTLOADER_MAGIC || info == NULL) {
        emergency_print("boot: not loaded by Multiboot 1 or PVH, eax ");
        emergency_print_hex(magic);
        emergency_print("\n");
        emergency_exit(EMERGENCY_EXIT_NO_BOOT);
    }
    arch_boot.loader = "multiboot";
    boot_info_command_line((info->flags & MULTIBOOT_INFO_CMDLINE) != 0
                               ? (const char *)(uintptr_t)info->cmdline
                               : NULL);
    if ((info->flags & MULTIBOOT_INFO_MODS) != 0)
        read_modules(info);
    if ((info->flags & MULTIBOOT_INFO_ELF_SHDR) != 0)
        boot_info_sections((const void *)(uintptr_t)info->u.elf_sec.addr,
                           info->u.elf_sec.num, info->u.elf_sec.size);
    read_memory(info);
}
