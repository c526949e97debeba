/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks are at addresses where there is no RAM, so that the guard pages take
 * addresses only. The addresses are cut into chunks of one page table each, and
 * a chunk into stacks of one size, lowest address first:
 *
 *     guard, stack, guard, stack, ...
 *
 * Pages come from the upper end of the heap. A stack once made remains: mapping
 * it again would cost more than its first use. Those that are free are linked
 * through their uppermost word; the last one freed is the next one taken, since
 * it may still be in the CPU's caches.
 */

#include "stacks.h"

#include "../heap.h"
#include "../lock.h"
#include <arch/context.h>
#include <kernel/task.h>

#define PAGE ARCH_PAGE_BYTES
#define CHUNK_BYTES ((uintptr_t)2 << 20)
#define CHUNKS_MAX 4096u
#define SIZES 7u /* 1, 2, 4, ... 64 pages */

/* A stack has so many times the bytes that were asked for: in the process that
 * a sanitizer instruments, frames are larger. */
#ifndef STACK_SCALE
#define STACK_SCALE 1u
#endif

_Static_assert(PAGE << (SIZES - 1) == TASK_STACK_MAX, "sizes of stacks");

/* Stacks of one size. */
struct size {
    uintptr_t free;  /* uppermost word of the first free stack, 0 = none */
    uintptr_t next;  /* where the next one is made, its guard */
    uintptr_t limit; /* end of the chunk */
    unsigned mapped; /* pages of that one that are there already */
    uint32_t stacks; /* made */
};

static struct size sizes[SIZES];
static struct arch_region addresses;   /* empty: not asked for yet */
static uint8_t chunk_size[CHUNKS_MAX]; /* index in sizes, plus 1; 0: unused */
static uintptr_t chunks;
static void *spare;      /* a page that there was no use for */
static struct lock lock; /* of all of this, but for who only looks */

static void *page(void)
{
    void *memory = spare;

    spare = NULL;
    return memory != NULL ? memory : heap_page();
}

static bool new_chunk(unsigned index)
{
    uintptr_t begin;

    if (addresses.end == 0)
        addresses = arch_unused_addresses();
    begin = addresses.begin + chunks * CHUNK_BYTES;
    if (chunks == CHUNKS_MAX || addresses.end - begin < CHUNK_BYTES)
        return false;
    chunk_size[chunks++] = (uint8_t)(index + 1);
    sizes[index].next = begin;
    sizes[index].limit = begin + CHUNK_BYTES;
    return true;
}

/* Makes a stack of 2^(index) pages. What was done before memory ran out is not
 * done again. */
static bool make(unsigned index, struct stack *stack)
{
    struct size *size = &sizes[index];
    const unsigned pages = 1u << index;

    if (size->limit - size->next < (pages + 1) * PAGE && !new_chunk(index))
        return false;
    stack->begin = size->next + PAGE;
    stack->end = stack->begin + pages * PAGE;
    for (; size->mapped < pages; size->mapped++) {
        void *memory = page();

        if (memory == NULL)
            return false;
        if (!arch_map(stack->begin + size->mapped * PAGE, memory, page)) {
            spare = memory;
            return false;
        }
    }
    size->mapped = 0;
    size->next = stack->end;
    size->stacks++;
    return true;
}

static unsigned index_of(size_t bytes)
{
    unsigned index = 0;

    while (index < SIZES && (size_t)PAGE << index < bytes)
        index++;
    return index;
}

static size_t scaled(size_t bytes)
{
    const size_t most = TASK_STACK_MAX / STACK_SCALE;

    return bytes < most || bytes > TASK_STACK_MAX ? bytes * STACK_SCALE
                                                  : TASK_STACK_MAX;
}

static bool take_stack(unsigned index, struct stack *stack)
{
    const uintptr_t word = sizes[index].free;

    if (word == 0)
        return make(index, stack);
    sizes[index].free = *(uintptr_t *)word;
    stack->end = word + sizeof word;
    stack->begin = stack->end - ((uintptr_t)PAGE << index);
    return true;
}

bool stack_take(size_t bytes, struct stack *stack)
{
    const unsigned index = index_of(scaled(bytes));
    bool taken;

    if (index == SIZES)
        return false;
    if (ARCH_CPUS_MAX > 1)
        lock_take(&lock);
    taken = take_stack(index, stack);
    if (ARCH_CPUS_MAX > 1)
        lock_give(&lock);
    return taken;
}

void stack_give(const struct stack *stack)
{
    struct size *size = &sizes[index_of(stack->end - stack->begin)];
    uintptr_t word = stack->end - sizeof word;

    if (ARCH_CPUS_MAX > 1)
        lock_take(&lock);
    *(uintptr_t *)word = size->free;
    size->free = word;
    if (ARCH_CPUS_MAX > 1)
        lock_give(&lock);
}

/* Where the stacks of (chunk) end that were made. */
static uintptr_t chunk_limit(uintptr_t chunk, unsigned index)
{
    const uintptr_t end = addresses.begin + (chunk + 1) * CHUNK_BYTES;

    return sizes[index].limit == end ? sizes[index].next : end;
}

bool stack_find(uintptr_t address, struct stack *stack)
{
    const uintptr_t offset = address - addresses.begin;
    const uintptr_t chunk = offset / CHUNK_BYTES;
    uintptr_t bytes, number;
    unsigned index;

    if (address < addresses.begin || chunk >= chunks)
        return false;
    index = chunk_size[chunk] - 1u;
    bytes = PAGE + ((uintptr_t)PAGE << index);
    number = offset % CHUNK_BYTES / bytes;
    stack->begin =
        addresses.begin + chunk * CHUNK_BYTES + number * bytes + PAGE;
    stack->end = stack->begin + bytes - PAGE;
    return chunk_limit(chunk, index) >= stack->end;
}

uint32_t stack_count(uint64_t *bytes)
{
    uint32_t count = 0;

    *bytes = 0;
    for (unsigned i = 0; i < SIZES; i++) {
        count += sizes[i].stacks;
        *bytes += (uint64_t)sizes[i].stacks * PAGE << i;
    }
    return count;
}
