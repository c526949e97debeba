/* SPDX-License-Identifier: Apache-2.0 */

/*
 * PAE has three levels: CR3 points to the four pointers, whose entries have no
 * permission bits except "present".
 */

#include "paging.h"

uintptr_t paging_root(void)
{
    for (unsigned i = 0; i < PAGE_DIRECTORIES; i++)
        page_pointers[i] = (uintptr_t)page_directories[i] | PAGE_PRESENT;
    return (uintptr_t)page_pointers;
}
