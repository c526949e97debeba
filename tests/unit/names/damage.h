/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DAMAGE_H
#define DAMAGE_H

/* What a damaged symbol table must lead to. */

#include "table_maker.h"

/* Seals and opens (made), expects (error), and that no names are left then. */
static inline void expect_error(struct made_table *made, int error)
{
    struct prof_symbol found;

    made_seal(made->head);
    assert_int_equal(made_open(made), error);
    assert_int_equal(prof_symbols_error(), error);
    assert_int_equal(prof_symbols_count(), 0);
    assert_false(prof_symbol_find(MADE_BASE, &found));
    free(made->head);
}

#endif
