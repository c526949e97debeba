/* SPDX-License-Identifier: Apache-2.0 */

/*
 * PAE has three levels: CR3 names the four pointers themselves, whose entries
 * know no rights but "present".
 */

#include "paging.h"

uintptr_t paging_root(void)
{
    for (unsigned i = 0; i < PAGE_DIRECTORIES; i++)
        page_pointers[i] = (uintptr_t)page_directories[i] | PAGE_PRESENT;
    return (uintptr_t)page_pointers;
}
