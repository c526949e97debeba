/* SPDX-License-Identifier: Apache-2.0 */

/*
 * PAE has three levels: CR3 points to the four pointers, whose entries have no
 * permission bits except "present".
 */

#include "paging.h"

#include <arch/context.h>

#define LARGE_PAGE_BYTES ((uintptr_t)2 << 20)
#define DEVICES_BEGIN 0xb0000000u /* PCI's memory, by the common chipsets */

uintptr_t paging_root(void)
{
    for (unsigned i = 0; i < PAGE_DIRECTORIES; i++)
        page_pointers[i] = (uintptr_t)page_directories[i] | PAGE_PRESENT;
    return (uintptr_t)page_pointers;
}

size_t paging_high_pages(void)
{
    return 0;
}

void paging_map_high(uint64_t *pages)
{
    (void)pages;
}

uint64_t *paging_directory_entry(uintptr_t address, void *(*page)(void))
{
    (void)page;
    return &page_directories[0][address / LARGE_PAGE_BYTES];
}

/* The page after the RAM may be the firmware's. */
struct arch_region arch_unused_addresses(void)
{
    struct arch_region unused = {0, DEVICES_BEGIN};

    for (size_t i = 0; i < arch_boot.region_count; i++)
        if (arch_boot.region[i].end > unused.begin)
            unused.begin = arch_boot.region[i].end;
    unused.begin = (unused.begin / LARGE_PAGE_BYTES + 2) * LARGE_PAGE_BYTES;
    if (unused.begin > unused.end)
        unused.begin = unused.end;
    return unused;
}
