/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAGING_H
#define PAGING_H

/*
 * Page tables with 64-bit entries on both widths: PAE on i386, four levels on
 * x86_64. All of 0 to 4 GiB is mapped onto itself; what differs between the
 * widths is only what stands above the four directories (paging_root.c).
 */

#include <arch/boot.h>
#include <stdint.h>

#define PAGE_BYTES 4096u
#define PAGE_ENTRIES 512u
#define PAGE_DIRECTORIES 4u /* of 1 GiB each */

#define PAGE_PRESENT ((uint64_t)1 << 0)
#define PAGE_WRITABLE ((uint64_t)1 << 1)
#define PAGE_LARGE ((uint64_t)1 << 7) /* 2 MiB, in a directory */
#define PAGE_NO_EXECUTE ((uint64_t)1 << 63)

/* Filled by paging_start(); on x86_64 by boot.asm before, more coarsely. */
extern uint64_t page_directories[PAGE_DIRECTORIES][PAGE_ENTRIES];
extern uint64_t page_pointers[PAGE_ENTRIES];

/*
 * Sets up what stands above the directories and returns what belongs into
 * CR3. Contexts: boot; may be called again.
 */
uintptr_t paging_root(void);

/*
 * Maps the image with the rights its parts deserve and turns paging and write
 * protection on. Ends the machine with a line on COM1 where RAM for the tables
 * is missing. Contexts: boot, once, after the boot information was read.
 */
void paging_start(void);

/* The RAM that paging_start() took for tables, half-open. */
extern struct arch_region paging_tables;

#endif
