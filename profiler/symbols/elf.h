/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ELF_H
#define PROF_ELF_H

/*
 * The image's ELF symbol table, as a loader has put it into memory. lookup.c
 * uses it if no table of `parasite embed` is open. Contracts: as those of the
 * corresponding calls in <prof/symbols.h>.
 */

#include <prof/symbols.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sorts the table, and uses it from now on. Returns PROF_OK or PROF_ESYM... */
int prof_elf_open(const struct prof_elf_symbols *given);

/* Stops using the table. */
void prof_elf_close(void);

uint32_t prof_elf_count(void);
bool prof_elf_find(uintptr_t address, struct prof_symbol *found);
size_t prof_elf_name(const struct prof_symbol *symbol, char *out, size_t size);

#endif
