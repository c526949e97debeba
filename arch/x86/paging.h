/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAGING_H
#define PAGING_H

/*
 * Page tables with 64-bit entries on both widths: PAE on i386, four levels on
 * x86_64. 0 to 4 GiB is identity-mapped, and on x86_64 all RAM. The widths
 * differ only in what is above the four directories (paging_root.c).
 */

#include "page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_ENTRIES 512u
#define PAGE_DIRECTORIES 4u /* of 1 GiB each */

#define PAGE_PRESENT ((uint64_t)1 << 0)
#define PAGE_WRITABLE ((uint64_t)1 << 1)
#define PAGE_LARGE ((uint64_t)1 << 7) /* 2 MiB, in a directory */
#define PAGE_ADDRESS (~(uint64_t)0xfff & ~PAGE_NO_EXECUTE)
#define PAGE_NO_EXECUTE ((uint64_t)1 << 63)

/* Filled by paging_start(); on x86_64 first by boot.asm, with large pages. */
extern uint64_t page_directories[PAGE_DIRECTORIES][PAGE_ENTRIES];
extern uint64_t page_pointers[PAGE_ENTRIES];

/* PAGE_NO_EXECUTE if the CPU supports it, else 0. */
extern uint64_t paging_no_execute;

/*
 * Sets up the levels above the directories and returns the value for CR3.
 * Contexts: boot; may be called again.
 */
uintptr_t paging_root(void);

/*
 * How many pages paging_map_high() needs for the directories of the RAM above
 * 4 GiB, and the mapping itself, of whole GiB, in these pages. Nothing on i386.
 * Contexts: boot, once.
 */
size_t paging_high_pages(void);
void paging_map_high(uint64_t *pages);

/*
 * Maps the image with the permissions of its sections; enables paging and
 * write protection. Ends the image with a line on COM1 if there is no RAM for
 * the tables. Contexts: boot, once, after boot_protocol_read().
 */
void paging_start(void);

/*
 * Unmaps the page at (address), which is RAM below 4 GiB outside the image, for
 * good. Pages for tables come from (page). False: it has returned NULL. The
 * caller is the only CPU that may have used the page.
 */
bool paging_guard(uintptr_t address, void *(*page)(void));

/*
 * The entry of a directory for (address), unused by RAM and devices.
 * Directories that are missing are made in pages of (page). NULL: it has
 * returned NULL.
 */
uint64_t *paging_directory_entry(uintptr_t address, void *(*page)(void));

#endif
