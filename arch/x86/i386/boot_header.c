/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The Multiboot 1 header, which loaders search for in the first 8 KiB of the
 * file. It has no address fields, because loaders use the ELF headers.
 * Source: Multiboot Specification 0.6.96.
 */

#include <multiboot.h>

#define HEADER_FLAGS (MULTIBOOT_PAGE_ALIGN | MULTIBOOT_MEMORY_INFO)

static const struct {
    multiboot_uint32_t magic, flags, checksum;
} multiboot_header __attribute__((section(".boot_header"), used)) = {
    .magic = MULTIBOOT_HEADER_MAGIC,
    .flags = HEADER_FLAGS,
    .checksum = 0u - (MULTIBOOT_HEADER_MAGIC + HEADER_FLAGS),
};
