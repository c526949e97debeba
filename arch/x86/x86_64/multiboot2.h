/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MULTIBOOT2_H
#define MULTIBOOT2_H

/* The parts of the Multiboot2 Specification 2.0 that are used here. */

#include <stdint.h>

#define MULTIBOOT2_HEADER_MAGIC 0xe85250d6u /* in the image */
#define MULTIBOOT2_LOADER_MAGIC 0x36d76289u /* in eax at the entry */
#define MULTIBOOT2_ARCHITECTURE_I386 0u     /* 32-bit protected mode */
#define MULTIBOOT2_HEADER_TAG_END 0u
#define MULTIBOOT2_HEADER_TAG_MODULE_ALIGN 6u
#define MULTIBOOT2_TAG_ALIGN 8u

enum {
    MULTIBOOT2_END = 0,
    MULTIBOOT2_COMMAND_LINE = 1,
    MULTIBOOT2_MODULE = 3,
    MULTIBOOT2_BASIC_MEMORY = 4,
    MULTIBOOT2_MEMORY_MAP = 6,
    MULTIBOOT2_SECTIONS = 9,
};

/* The information: total bytes, a reserved word, and then tags. */
struct multiboot2_info {
    uint32_t bytes;
    uint32_t reserved;
};

/* A tag; the next begins `bytes` later, rounded up to a multiple of 8. */
struct multiboot2_tag {
    uint32_t type;
    uint32_t bytes; /* with this header */
};

struct multiboot2_string {
    struct multiboot2_tag tag;
    char text[];
};

struct multiboot2_module {
    struct multiboot2_tag tag;
    uint32_t begin;
    uint32_t end;
    char name[];
};

struct multiboot2_basic_memory {
    struct multiboot2_tag tag;
    uint32_t lower_kib;
    uint32_t upper_kib;
};

struct multiboot2_range {
    uint64_t begin;
    uint64_t bytes;
    uint32_t type;
    uint32_t reserved;
};

#define MULTIBOOT2_ACPI_1 14u /* copies of the root pointer */
#define MULTIBOOT2_ACPI_2 15u

#define MULTIBOOT2_RANGE_AVAILABLE 1u

struct multiboot2_memory_map {
    struct multiboot2_tag tag;
    uint32_t entry_bytes;
    uint32_t entry_version;
    /* struct multiboot2_range, entry_bytes apart */
};

/* The image's ELF section headers. */
struct multiboot2_sections {
    struct multiboot2_tag tag;
    uint32_t count;
    uint32_t entry_bytes;
    uint32_t names; /* number of the section with the names of sections */
    char headers[]; /* entry_bytes apart */
};

#endif
