/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_HEAP_H
#define KERNEL_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Sets up the memory for newlib's malloc(): the largest free range of RAM below
 * 4 GiB, and then each one above it of at least a MiB. sbrk() hands them out
 * from their lower ends. Contexts: boot, once, before malloc().
 */
void heap_start(void);

/*
 * A page from the upper end of the first range that has one, for good; NULL if
 * there is none that sbrk() has not handed out. Contexts: thread.
 */
void *heap_page(void);

/* Whether this CPU is in a call of malloc() or the like. Contexts: any, for an
 * interrupt that would make one. */
bool heap_in_use(void);

/* Total size of the heap, and what sbrk() has handed out so far. */
size_t heap_bytes(void);
size_t heap_used_bytes(void);

#endif
