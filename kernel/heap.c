/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sbrk() over the free ranges of RAM, by rising address. newlib's malloc() is
 * built on it. What does not fit into the rest of a range begins in the next
 * one: malloc() takes that as memory that somebody else has had in between. The
 * rest of the range is left to heap_page(). When all are exhausted sbrk() fails
 * with ENOMEM and malloc() returns NULL, which its caller must handle: the
 * kernel does not panic.
 */

#include "heap.h"

#include "lock.h"

#include <arch/boot.h>
#include <arch/context.h>
#include <errno.h>
#include <kernel/service.h>
#include <prof/trace.h>
#include <stdint.h>
#include <unistd.h>

#define LEAST_BYTES ((size_t)1 << 20) /* of a range, but for the first one */
/* malloc() asks for up to a page more, in the same range, where a range begins
 * (mallocr.c, malloc_extend_top) */
#define SLACK_BYTES ((size_t)4 * ARCH_PAGE_BYTES)

struct range {
    uintptr_t begin, end;
    uintptr_t at; /* what is below has been handed out */
};

static struct range ranges[ARCH_FREE_MAX];
static size_t range_count;
static struct range *heap = ranges;    /* where sbrk() is */
static size_t all_bytes, handed_bytes; /* of all of them; by sbrk() */
static struct lock lock;               /* while a call is in progress */
static PROF_TRACE_NAME(used, "heap bytes");

static void add_range(struct arch_region region)
{
    ranges[range_count++] =
        (struct range){region.begin, region.end, region.begin};
    all_bytes += region.end - region.begin;
}

void heap_start(void)
{
    struct arch_region region = arch_heap_region();

    do {
        add_range(region);
        region = arch_free_region(region.end, LEAST_BYTES);
    } while (region.end != 0 && range_count < ARCH_FREE_MAX);
}

size_t heap_bytes(void)
{
    return all_bytes;
}

size_t heap_used_bytes(void)
{
    return handed_bytes;
}

/* newlib calls these around all that its malloc() and the like do. */
void __malloc_lock(struct _reent *reent);
void __malloc_unlock(struct _reent *reent);

void __malloc_lock(struct _reent *reent)
{
    (void)reent;
    lock_take(&lock);
}

void __malloc_unlock(struct _reent *reent)
{
    (void)reent;
    lock_give(&lock);
}

bool heap_in_use(void)
{
    return lock_is_mine(&lock);
}

void *heap_page(void)
{
    void *page = NULL;

    lock_take(&lock);
    for (size_t i = 0; i < range_count && page == NULL; i++)
        if (ranges[i].end - ranges[i].at >= ARCH_PAGE_BYTES) {
            ranges[i].end -= ARCH_PAGE_BYTES;
            all_bytes -= ARCH_PAGE_BYTES;
            page = (void *)ranges[i].end;
        }
    lock_give(&lock);
    return page;
}

/* The next range that has (bytes), and a little more; NULL: none. */
static struct range *next_range(size_t bytes)
{
    for (struct range *each = heap + 1; each < ranges + range_count; each++)
        if (bytes <= SIZE_MAX - SLACK_BYTES &&
            each->end - each->begin >= bytes + SLACK_BYTES)
            return each;
    return NULL;
}

void *sbrk(ptrdiff_t increment)
{
    /* unsigned, so that the most negative increment can be negated */
    size_t bytes = increment < 0 ? 0 - (size_t)increment : (size_t)increment;
    size_t room = increment < 0 ? heap->at - heap->begin : heap->end - heap->at;
    struct range *range = heap;
    uintptr_t before;

    if (bytes > room)
        range = increment < 0 ? NULL : next_range(bytes);
    if (range == NULL) {
        errno = ENOMEM;
        return (void *)-1;
    }
    heap = range;
    before = heap->at;
    heap->at = before + (uintptr_t)increment;
    handed_bytes += (size_t)increment;
    prof_trace_counter(&used, (int64_t)heap_used_bytes());
    return (void *)before;
}

size_t service_heap_bytes(void)
{
    return heap_used_bytes();
}

/*
 * newlib's <malloc.h> has size_t for these, and its malloc() fills in ints,
 * which on x86_64 is another struct. So it is declared here as it is filled in
 * (newlib 3.3.0, mallocr.c), and tests/guest/kernel/heap holds it against
 * malloc().
 */
struct mallinfo {
    int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks;
    int uordblks, fordblks, keepcost;
};
struct mallinfo mallinfo(void);

/* What malloc() takes as used includes what lies between two ranges, so it is
 * what is not free. Its counts are modulo 4 GiB: more than that in free pieces
 * counts as used. */
size_t service_heap_in_use(void)
{
    return heap_used_bytes() - (unsigned)mallinfo().fordblks;
}
