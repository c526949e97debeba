/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting and filtering the rows of top. */

#include "top/rows.h"

#include <stdlib.h>
#include <string.h>

static int falling(double left, double right)
{
    return (left < right) - (left > right);
}

/* Equal rows are sorted by name, so that their order is stable. */
static int by_name(const void *left, const void *right)
{
    const struct top_row *a = left, *b = right;

    if (a->kind != b->kind)
        return (int)a->kind - (int)b->kind;
    return strcmp(a->name, b->name);
}

static int by_self(const void *left, const void *right)
{
    const struct top_row *a = left, *b = right;
    int order = a->kind == b->kind ? falling(a->self, b->self) : 0;

    if (order == 0 && a->kind == b->kind)
        order = falling(a->total, b->total);
    return order != 0 ? order : by_name(left, right);
}

static int by_total(const void *left, const void *right)
{
    const struct top_row *a = left, *b = right;
    int order = a->kind == b->kind ? falling(a->total, b->total) : 0;

    return order != 0 ? order : by_self(left, right);
}

/* The rest are orders of sites, and those that are equal by self. */
static int by_number(const struct top_row *a, const struct top_row *b,
                     double left, double right)
{
    int order = a->kind == b->kind ? falling(left, right) : 0;

    return order != 0 ? order : by_self(a, b);
}

static int by_longest(const void *left, const void *right)
{
    const struct top_row *a = left, *b = right;

    return by_number(a, b, a->longest_ms, b->longest_ms);
}

static int by_delay(const void *left, const void *right)
{
    const struct top_row *a = left, *b = right;

    return by_number(a, b, a->delay_ms, b->delay_ms);
}

static int by_calls(const void *left, const void *right)
{
    const struct top_row *a = left, *b = right;

    return by_number(a, b, a->rate, b->rate);
}

static int by_pending(const void *left, const void *right)
{
    const struct top_row *a = left, *b = right;

    return by_number(a, b, a->pending, b->pending);
}

void top_rows_sort(struct top_row *rows, size_t count, enum top_sort sort)
{
    int (*const orders[])(const void *, const void *) = {
        [TOP_BY_SELF] = by_self,       [TOP_BY_TOTAL] = by_total,
        [TOP_BY_NAME] = by_name,       [TOP_BY_LONGEST] = by_longest,
        [TOP_BY_DELAY] = by_delay,     [TOP_BY_CALLS] = by_calls,
        [TOP_BY_PENDING] = by_pending,
    };

    if (count > 0)
        qsort(rows, count, sizeof *rows, orders[sort]);
}

size_t top_rows_filter(struct top_row *rows, size_t count, const regex_t *regex,
                       bool idle)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; ++i) {
        if ((idle || strcmp(rows[i].name, TOP_IDLE) != 0) &&
            (regex == NULL || regexec(regex, rows[i].name, 0, NULL, 0) == 0))
            rows[kept++] = rows[i];
    }
    return kept;
}

size_t top_rows_find(const struct top_row *rows, size_t count,
                     enum top_kind kind, const char *name)
{
    size_t i = 0;

    while (i < count &&
           (rows[i].kind != kind || strcmp(rows[i].name, name) != 0))
        ++i;
    return i;
}
