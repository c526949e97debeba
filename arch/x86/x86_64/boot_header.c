/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The headers that loaders search for: GRUB for a Multiboot 2 header in the
 * first 32 KiB of the file, QEMU for the note in pvh_note.c. Both take the
 * addresses of segments from the ELF headers.
 */

#include "multiboot2.h"

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
