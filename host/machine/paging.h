/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MACHINE_PAGING_H
#define MACHINE_PAGING_H

/*
 * From a CPU's addresses to those of its RAM, by its own page tables: none,
 * 32-bit, PAE, four and five levels, with pages of every size. Segments have
 * base 0.
 *
 * Source: Intel SDM volume 3, chapter "Paging".
 */

#include "machine/registers.h"

/* Copies from a physical address, within 4 KiB; false unless all are there. */
struct paging_memory {
    bool (*copy)(void *owner, uint64_t physical, uint8_t *to, size_t bytes);
    void *owner;
};

/* Translates (address). *(left) is how many bytes of its page begin there.
 * False if nothing is mapped there, or its tables cannot be read. */
bool paging_translate(const struct registers *registers,
                      const struct paging_memory *memory, uint64_t address,
                      uint64_t *physical, uint64_t *left);

/* Reads up to (bytes), to the first page not there; returns how many. */
size_t paging_read(const struct registers *registers,
                   const struct paging_memory *memory, uint64_t address,
                   uint8_t *to, size_t bytes);

#endif
