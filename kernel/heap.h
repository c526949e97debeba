/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_HEAP_H
#define KERNEL_HEAP_H

#include <stddef.h>

/*
 * The memory under newlib's malloc(): the largest free piece of RAM, given out
 * from its lower end by sbrk(). Contexts: boot, once, before any malloc().
 */
void heap_start(void);

/* Bytes that sbrk() has in all, and that it has given out so far. */
size_t heap_bytes(void);
size_t heap_used_bytes(void);

#endif
