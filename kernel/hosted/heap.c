/* SPDX-License-Identifier: Apache-2.0 */

/* The C library's heap: as large as the kernel's would be in a machine with
 * --memory MIB. */

#include "../heap.h"

#include "start.h"

#include <kernel/service.h>
#include <malloc.h>

void heap_start(void)
{
}

/* A signal may come in the middle of malloc(), which does not say so. */
bool heap_in_use(void)
{
    return true;
}

size_t heap_bytes(void)
{
    return hosted_memory_bytes();
}

size_t heap_used_bytes(void)
{
    struct mallinfo2 heap = mallinfo2();

    return heap.arena + heap.hblkhd;
}

size_t service_heap_bytes(void)
{
    return heap_used_bytes();
}

size_t service_heap_in_use(void)
{
    struct mallinfo2 heap = mallinfo2();

    return heap.uordblks + heap.hblkhd;
}
