/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUNCTION_SYMBOLS_H
#define FUNCTION_SYMBOLS_H

/*
 * From an ELF file's symbols to its functions: the one rule for the table that
 * embed puts into an image and for the reports that the host command makes of
 * it, so that both give an address the same name.
 *
 * Nothing here allocates or fails.
 */

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranks of a symbol's binding: the lower one names the function. */
enum binding { BINDING_GLOBAL, BINDING_WEAK, BINDING_LOCAL };

struct function {
    uint64_t start;   /* address of its first byte */
    uint64_t size;    /* bytes; of a symbol 0 = not stated */
    uint64_t limit;   /* end of its section, above start */
    const char *name; /* the caller's */
    enum binding binding;
    bool label; /* not marked as a function (assembly) */
};

/*
 * Makes *(function) of (symbol), which is defined in (section) and is called
 * (name), NULL = unreadable. Returns false if it is no function: only symbols
 * inside executable sections are whose type says function (STT_FUNC,
 * STT_GNU_IFUNC) or nothing (STT_NOTYPE: nasm's labels, unless declared as
 * ":function"). Labels with a "." are positions in a function (foo.loop, .L12),
 * and those that begin with "$" mark the kind of code ($x). Compilers put a "."
 * into functions' names too (foo.cold, foo.part.0), but mark them as functions.
 */
bool function_of_symbol(const Elf64_Sym *symbol, const Elf64_Shdr *section,
                        const char *name, struct function *function);

/* For qsort(): by address, then the one that names it first; a total order. */
int function_compare(const void *left, const void *right);

/* Chooses from (count) functions, sorted by function_compare(), one for each
 * address, none overlapping, none of 0 bytes. They are written to (chosen),
 * which has room for (count) and is not (all); returns how many there are. */
size_t functions_choose(const struct function *all, size_t count,
                        struct function *chosen);

#endif
