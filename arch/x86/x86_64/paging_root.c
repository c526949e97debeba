/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Long mode has a fourth level, of which one entry suffices. boot.asm has
 * filled these tables already; this writes the same values again.
 */

#include "paging.h"

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
