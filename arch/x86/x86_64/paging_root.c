/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Long mode has a fourth level, of which one entry suffices. boot.asm has
 * filled these tables already; this writes the same values again.
 */

#include "paging.h"

#include <arch/context.h>

#define GIB ((uintptr_t)1 << 30)
#define UNUSED_GIB 8u /* after the four of the identity mapping */

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
    return &directory[address % GIB / (2u << 20)];
}

/* Twice what the RAM below 4 GiB could fill. */
struct arch_region arch_unused_addresses(void)
{
    return (struct arch_region){PAGE_DIRECTORIES * GIB,
                                (PAGE_DIRECTORIES + UNUSED_GIB) * GIB};
}
