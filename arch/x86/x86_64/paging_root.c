/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Long mode has a fourth level, of which one entry suffices. boot.asm has
 * filled these tables already; this writes the same values again.
 */

#include "paging.h"

#include <arch/context.h>

#define GIB ((uintptr_t)1 << 30)
#define LARGE_PAGE_BYTES ((uintptr_t)2 << 20)
#define UNUSED_GIB 8u /* after the RAM: what task stacks can take */

/* Also used by boot.asm. */
extern uint64_t page_level4[PAGE_ENTRIES];
uint64_t page_level4[PAGE_ENTRIES] __attribute__((aligned(4096)));

uintptr_t paging_root(void)
{
    for (unsigned i = 0; i < PAGE_DIRECTORIES; i++)
        page_pointers[i] =
            (uintptr_t)page_directories[i] | PAGE_PRESENT | PAGE_WRITABLE;
    page_level4[0] = (uintptr_t)page_pointers | PAGE_PRESENT | PAGE_WRITABLE;
    return (uintptr_t)page_level4;
}

/* The end of what is identity-mapped: of the RAM and of modules, at least 4
 * GiB, in GiB. */
static size_t mapped_gib(void)
{
    uintptr_t end = PAGE_DIRECTORIES * GIB;

    for (size_t i = 0; i < arch_boot.region_count; i++)
        if (arch_boot.region[i].end > end)
            end = arch_boot.region[i].end;
    for (size_t i = 0; i < arch_boot.module_count; i++)
        if (arch_boot.module[i].end > end)
            end = arch_boot.module[i].end;
    return (end + GIB - 1) / GIB;
}

size_t paging_high_pages(void)
{
    return mapped_gib() - PAGE_DIRECTORIES;
}

void paging_map_high(uint64_t *pages)
{
    const size_t count = paging_high_pages();
    uintptr_t address = PAGE_DIRECTORIES * GIB;

    for (size_t i = 0; i < count * PAGE_ENTRIES; i++) {
        pages[i] = address | PAGE_PRESENT | PAGE_WRITABLE | PAGE_LARGE |
                   paging_no_execute;
        address += LARGE_PAGE_BYTES;
    }
    for (size_t i = 0; i < count; i++)
        page_pointers[PAGE_DIRECTORIES + i] =
            (uintptr_t)(pages + i * PAGE_ENTRIES) | PAGE_PRESENT |
            PAGE_WRITABLE;
}

uint64_t *paging_directory_entry(uintptr_t address, void *(*page)(void))
{
    uint64_t *pointer = &page_pointers[address / GIB];
    uint64_t *directory = (uint64_t *)(uintptr_t)(*pointer & PAGE_ADDRESS);

    if (directory == NULL) {
        directory = page();
        if (directory == NULL)
            return NULL;
        for (size_t i = 0; i < PAGE_ENTRIES; i++)
            directory[i] = 0;
        *pointer = (uintptr_t)directory | PAGE_PRESENT | PAGE_WRITABLE;
    }
    return &directory[address % GIB / LARGE_PAGE_BYTES];
}

struct arch_region arch_unused_addresses(void)
{
    const uintptr_t begin = mapped_gib() * GIB;

    return (struct arch_region){begin, begin + UNUSED_GIB * GIB};
}
