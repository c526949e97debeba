/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sbrk() over one region of RAM. newlib's malloc() is built on it. When the
 * region is exhausted sbrk() fails with ENOMEM and malloc() returns NULL, which
 * its caller must handle: the kernel does not panic.
 */

#include "heap.h"

#include <arch/boot.h>
#include <arch/context.h>
#include <errno.h>
#include <kernel/service.h>
#include <prof/trace.h>
#include <stdint.h>
#include <unistd.h>

static struct arch_region heap;
static uintptr_t heap_break;
static volatile uint32_t uses; /* calls in progress */
static PROF_TRACE_NAME(used, "heap bytes");

void heap_start(void)
{
    heap = arch_heap_region();
    heap_break = heap.begin;
}

size_t heap_bytes(void)
{
    return heap.end - heap.begin;
}

size_t heap_used_bytes(void)
{
    return heap_break - heap.begin;
}

/* An interrupt looks at the count (heap_in_use()): the compiler must not move
 * what is in between to before or after it. */
static void enter(void)
{
    uses++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void leave(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uses--;
}

/* newlib calls these around all that its malloc() and the like do. */
void __malloc_lock(struct _reent *reent);
void __malloc_unlock(struct _reent *reent);

void __malloc_lock(struct _reent *reent)
{
    (void)reent;
    enter();
}

void __malloc_unlock(struct _reent *reent)
{
    (void)reent;
    leave();
}

bool heap_in_use(void)
{
    return uses != 0;
}

void *heap_page(void)
{
    void *page = NULL;

    enter();
    if (heap.end - heap_break >= ARCH_PAGE_BYTES) {
        heap.end -= ARCH_PAGE_BYTES;
        page = (void *)heap.end;
    }
    leave();
    return page;
}

void *sbrk(ptrdiff_t increment)
{
    uintptr_t before = heap_break;
    /* unsigned, so that the most negative increment can be negated */
    size_t bytes = increment < 0 ? 0 - (size_t)increment : (size_t)increment;
    size_t room = increment < 0 ? before - heap.begin : heap.end - before;

    if (bytes > room) {
        errno = ENOMEM;
        return (void *)-1;
    }
    heap_break = increment < 0 ? before - bytes : before + bytes;
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

size_t service_heap_in_use(void)
{
    return (unsigned)mallinfo().uordblks;
}
