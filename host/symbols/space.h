/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPACE_H
#define SPACE_H

/* The space for a symbol table in a linked image: struct prof_symbols_space of
 * <prof/symtab.h>, as an ELF file of either width has it. */

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

enum space_result {
    SPACE_FOUND,
    SPACE_NONE,     /* no such structure is loaded from the file */
    SPACE_SEVERAL,  /* more than one */
    SPACE_RELATIVE, /* its addresses are left to relocations at run time */
    SPACE_OUTSIDE,  /* the table's place is not loaded from the file */
};

struct space {
    uint64_t at;        /* offset in the file of the table's first byte */
    uint64_t address;   /* where the image sees it */
    uint32_t bytes;     /* reserved there */
    unsigned bits;      /* 32 or 64, those of the code */
    uint64_t high_half; /* what a 32-bit file cuts off its addresses */
};

/* Looks for the space in what the program headers of (elf) load from the file,
 * which is in memory as elf_rawfile() has it. *(space) is meaningful if it
 * returns SPACE_FOUND; the (bytes) at (at) are then in the file. */
enum space_result space_find(Elf *elf, struct space *space);

/* Where in the file the (bytes) bytes are that (elf) loads to (address); false
 * if it does not, or not all of them from the file. */
bool space_place(Elf *elf, uint64_t address, uint64_t bytes, uint64_t *at);

/* (address) of a symbol or section in full. */
static inline uint64_t space_full(const struct space *space, uint64_t address)
{
    return (address >> 31) != 0 ? address | space->high_half : address;
}

/* How many program headers (elf) has, and no more than are in its file, for it
 * may claim any number. gelf_getphdr() gives NULL for one that is not there. */
size_t space_headers(Elf *elf);

#endif
