/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DAMAGE_H
#define DAMAGE_H

/*
 * Ways in which the symbol table in memory can be wrong. One CPU, from the
 * service only: the table's pages are written to in spite of their protection.
 */

#include <prof/symtab.h>
#include <stddef.h>

struct damage {
    const char *what; /* in words, for the test's name */
    int error;        /* what opening it must return */
    void (*change)(struct prof_symtab *head);
};

extern const struct damage damages[];
extern const size_t damage_count;

/* Keeps a copy of the sound table. Allocates; once, before the others. */
void damage_begin(void);

void damage_do(const struct damage *damage);

/* The table is again as it was at damage_begin(). */
void damage_undo(void);

#endif
