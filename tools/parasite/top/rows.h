/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_ROWS_H
#define TOP_ROWS_H

/* The list that top shows: which of the functions, and in which order. */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

enum top_kind {
    TOP_ROW,    /* a function */
    TOP_CALLER, /* of the function zoomed into */
    TOP_CALLEE,
};

struct top_row {
    enum top_kind kind;
    const char *name;
    double self; /* percent; of a caller or callee, that call's */
    double total;
    double rate; /* samples a second, self */
};

enum top_sort { TOP_BY_SELF, TOP_BY_TOTAL, TOP_BY_NAME };

/* Sorts; callers come before callees in any order. */
void top_rows_sort(struct top_row *rows, size_t count, enum top_sort sort);

/* Keeps the rows whose name matches (regex), NULL = all; without (idle), the
 * idle CPU is left out. Returns how many are left. */
size_t top_rows_filter(struct top_row *rows, size_t count, const regex_t *regex,
                       bool idle);

/* The number of the row (name) of that (kind), or (count). */
size_t top_rows_find(const struct top_row *rows, size_t count,
                     enum top_kind kind, const char *name);

#define TOP_IDLE "[idle]"

#endif
