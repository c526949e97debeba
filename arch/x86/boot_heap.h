/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOT_HEAP_H
#define BOOT_HEAP_H

/* Free RAM, from arch_boot. Contexts: boot. */

#include <arch/boot.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Lowest page-aligned address below 4 GiB, at or above (from), of (bytes) bytes
 * of RAM that hold neither the image nor a module. Returns 0 if there is none.
 */
uintptr_t boot_heap_find(uintptr_t from, size_t bytes);

/* Keeps the heap out of the page tables, half-open. Call once. */
void boot_heap_reserve(struct arch_region tables);

#endif
