/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The headers that loaders search for: GRUB for a Multiboot 2 header in the
 * first 32 KiB of the file, QEMU for a note with the address of a 32-bit PVH
 * entry. Both take the addresses of segments from the ELF headers.
 */

#include "multiboot2.h"
#include "pvh.h"

struct header_tag {
    uint16_t type;
    uint16_t flags;
    uint32_t bytes;
};

struct header {
    uint32_t magic, architecture, bytes, checksum;
    struct header_tag module_align, end;
};

_Static_assert(sizeof(struct header) == 32, "no padding in the header");

static const struct header multiboot2_header __attribute__((
    section(".boot_header"), used, aligned(8))) = {
    .magic = MULTIBOOT2_HEADER_MAGIC,
    .architecture = MULTIBOOT2_ARCHITECTURE_I386,
    .bytes = sizeof(struct header),
    .checksum = 0u - (MULTIBOOT2_HEADER_MAGIC + MULTIBOOT2_ARCHITECTURE_I386 +
                      (uint32_t)sizeof(struct header)),
    .module_align = {MULTIBOOT2_HEADER_TAG_MODULE_ALIGN, 0,
                     sizeof(struct header_tag)},
    .end = {MULTIBOOT2_HEADER_TAG_END, 0, sizeof(struct header_tag)},
};

/* boot_entry, unless the linker sets it otherwise (linker/x86_64.ld). */
extern char boot_pvh_entry[];

struct note {
    uint32_t name_bytes, value_bytes, type;
    char name[sizeof(PVH_NOTE_NAME)];
    uint64_t value;
} __attribute__((packed, aligned(4)));

static const struct note pvh_note
    __attribute__((section(".note.pvh"), used, aligned(4))) = {
        .name_bytes = sizeof(PVH_NOTE_NAME),
        .value_bytes = sizeof(uint64_t),
        .type = PVH_NOTE_ENTRY,
        .name = PVH_NOTE_NAME,
        .value = (uintptr_t)boot_pvh_entry,
};
