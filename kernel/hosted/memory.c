/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Memory as the kernel wants it. Stacks of tasks are at addresses that are
 * reserved at once and made accessible page by page, so that the guard pages of
 * kernel/task/stacks.c are real.
 */

#include "../heap.h"

#include <arch/boot.h>
#include <arch/context.h>
#include <arch/cpu.h>
#include <arch/patch.h>
#include <kernel/panic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_BYTES ((uintptr_t)2 << 20)
#define RESERVED_BYTES ((uintptr_t)(sizeof(void *) == 8 ? 4096 : 512) << 20)

struct arch_region arch_unused_addresses(void)
{
    void *memory = mmap(NULL, RESERVED_BYTES, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uintptr_t begin = (uintptr_t)memory;

    if (memory == MAP_FAILED)
        return (struct arch_region){1, 1};
    return (struct arch_region){
        (begin + CHUNK_BYTES - 1) & ~(CHUNK_BYTES - 1),
        (begin + RESERVED_BYTES) & ~(CHUNK_BYTES - 1),
    };
}

/* A page's memory comes with its address. */
void *heap_page(void)
{
    static char page;

    return &page;
}

bool arch_map(uintptr_t address, const void *memory, void *(*page)(void))
{
    (void)memory;
    (void)page;
    return mprotect((void *)address, ARCH_PAGE_BYTES, PROT_READ | PROT_WRITE) ==
           0;
}

/* As few pages as the code is in are made writable for the moment. */
void arch_patch(uintptr_t address, const void *bytes, size_t count)
{
    uintptr_t begin = address & ~(uintptr_t)(ARCH_PAGE_BYTES - 1);
    size_t whole = address + count - begin;
    bool on = arch_interrupts_save();

    if (mprotect((void *)begin, whole, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        panic("the code cannot be made writable");
    memcpy((void *)address, bytes, count);
    (void)mprotect((void *)begin, whole, PROT_READ | PROT_EXEC);
    arch_interrupts_restore(on);
}

/* Linux runs nowhere without SSE any more. */
uint8_t arch_has_sse = 1;
