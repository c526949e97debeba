/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_ROWS_H
#define TOP_ROWS_H

/* The list that top shows: which of the functions or, with --loop, sites, and
 * in which order. */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum top_kind {
    TOP_ROW,    /* a function or site */
    TOP_CALLER, /* of the function zoomed into */
    TOP_CALLEE,
};

struct top_row {
    enum top_kind kind;
    const char *name;
    double self; /* percent; of a caller or callee, that call's */
    double total;
    double rate; /* samples a second, self; tasks created a second */

    /* of sites only */
    double longest_ms; /* run since the guest's reset */
    double delay_ms;   /* from wake to run, mean */
    uint32_t pending;  /* tasks that have not ended */
};

enum top_sort {
    TOP_BY_SELF,
    TOP_BY_TOTAL,
    TOP_BY_NAME,
    TOP_BY_LONGEST, /* from here on of sites only */
    TOP_BY_DELAY,
    TOP_BY_CALLS,
    TOP_BY_PENDING,
    TOP_SORTS,
};

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
