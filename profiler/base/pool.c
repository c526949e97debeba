/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The built-in allocator. The profiler allocates some dozens of blocks in all
 * and frees few of them, so one list is enough: the free blocks in the order of
 * their addresses, of which the first that is large enough is taken.
 */

#include "base/alloc.h"
#include "base/busy.h"

#include <prof/port.h>
#include <stdint.h>

volatile uint32_t prof_busy; /* here, since what allocates needs no more */

#define ALIGNMENT 16u

struct block {
    size_t bytes;       /* all of it, a multiple of ALIGNMENT */
    struct block *next; /* free one at a higher address, or NULL */
};

_Static_assert(sizeof(struct block) <= ALIGNMENT, "a head keeps alignment");

static struct block *free_blocks;
static bool is_open; /* perhaps with nothing free */

/* Those of the image, NULL where it has none: weak, and called through memory,
 * because a call of address 0 does not reach from the upper half. */
#pragma weak prof_port_alloc
#pragma weak prof_port_free
static void *(*volatile port_alloc)(size_t bytes) = prof_port_alloc;
static void (*volatile port_free)(void *memory) = prof_port_free;

static size_t rounded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

void prof_pool_open(void *memory, size_t bytes)
{
    uintptr_t begin = rounded((uintptr_t)memory);
    uintptr_t end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(ALIGNMENT - 1);

    if (is_open || memory == NULL || end < begin + ALIGNMENT)
        return;
    is_open = true;
    free_blocks = (struct block *)begin;
    *free_blocks = (struct block){.bytes = end - begin};
}

bool prof_pool_in_use(void)
{
    return port_alloc == NULL;
}

static void *pool_alloc(size_t bytes)
{
    size_t needed = rounded(bytes) + ALIGNMENT;
    struct block **at = &free_blocks, *block, *rest;

    if (bytes > SIZE_MAX - 2 * ALIGNMENT)
        return NULL;
    while (*at != NULL && (*at)->bytes < needed)
        at = &(*at)->next;
    block = *at;
    if (block == NULL)
        return NULL;
    *at = block->next;
    if (block->bytes - needed > ALIGNMENT) {
        rest = (struct block *)((uintptr_t)block + needed);
        rest->bytes = block->bytes - needed;
        rest->next = block->next;
        block->bytes = needed;
        *at = rest;
    }
    return (void *)((uintptr_t)block + ALIGNMENT);
}

/* Makes one of (block) and the one after it, if there is nothing between. */
static void join_next(struct block *block)
{
    struct block *next = block->next;

    if (next != NULL && (uintptr_t)block + block->bytes == (uintptr_t)next) {
        block->bytes += next->bytes;
        block->next = next->next;
    }
}

static void pool_free(void *memory)
{
    struct block *block = (struct block *)((uintptr_t)memory - ALIGNMENT);
    struct block *before = NULL, *after = free_blocks;

    if (memory == NULL)
        return;
    for (; after != NULL && after < block; after = after->next)
        before = after;
    block->next = after;
    if (before != NULL)
        before->next = block;
    else
        free_blocks = block;
    join_next(block);
    if (before != NULL)
        join_next(before);
}

/* The drain in the tick allocates, too: not while the list changes. */
void *prof_alloc(size_t bytes)
{
    void *(*alloc)(size_t) = port_alloc;
    void *memory;

    prof_enter();
    memory = alloc != NULL ? alloc(bytes) : pool_alloc(bytes);
    prof_leave();
    return memory;
}

void prof_free(void *memory)
{
    void (*release)(void *) = port_free;

    prof_enter();
    if (release != NULL)
        release(memory);
    else
        pool_free(memory);
    prof_leave();
}
