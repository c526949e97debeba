/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of two reports become one list, and each change is judged. */

#include "diff/diff.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct model_count *counted(const struct diff *diff,
                                         const struct report_row *row)
{
    return diff->by_total ? &row->total : &row->self;
}

static struct diff_row *row_of(struct diff *diff, const char *name)
{
    uint32_t number = strings_put(&diff->names, name);

    if (number > diff->count) {
        vector_reserve_one(&diff->rows, diff->count, sizeof *diff->rows);
        diff->rows[diff->count++] =
            (struct diff_row){.name = strings_text(&diff->names, number)};
    }
    return &diff->rows[number - 1];
}

static void match(struct diff *diff)
{
    for (int side = 0; side < 2; ++side) {
        struct report *report = side == 0 ? &diff->base : &diff->now;

        for (uint32_t i = 0; i < report->row_keys.count; ++i) {
            const struct report_row *from = &report->rows[i];
            struct diff_row *row = row_of(
                diff, names_text(&report->view.names, from->frame.function));

            *(side == 0 ? &row->base : &row->now) = *counted(diff, from);
        }
    }
}

/* Shares as samples: with --weight time, as many as if all had accounted for
 * the same time. */
static struct interval_pair pair_of(const struct diff *diff,
                                    const struct diff_row *row)
{
    double base_whole = (double)diff->base.sum.samples;
    double new_whole = (double)diff->now.sum.samples;

    return (struct interval_pair){
        .base_hits = row->base_share * base_whole,
        .base_whole = base_whole,
        .new_hits = row->share * new_whole,
        .new_whole = new_whole,
    };
}

static int descending(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a < *b) - (*a > *b);
}

static void count_comparisons(struct diff *diff)
{
    double *totals = xreallocarray(NULL, diff->count, sizeof *totals);
    struct interval_pair wholes = {
        .base_whole = (double)diff->base.sum.samples,
        .new_whole = (double)diff->now.sum.samples,
    };

    for (size_t i = 0; i < diff->count; ++i) {
        struct interval_pair pair = pair_of(diff, &diff->rows[i]);

        totals[i] = pair.base_hits + pair.new_hits;
    }
    qsort(totals, diff->count, sizeof *totals, descending);
    diff->comparisons =
        interval_comparisons(totals, diff->count, &wholes, diff->confidence);
    diff->z = interval_z(diff->confidence, diff->comparisons);
    free(totals);
}

static int by_certainty(const void *left, const void *right)
{
    const struct diff_row *a = left, *b = right;
    double certain = fabs(b->certain) - fabs(a->certain);
    double change =
        fabs(b->share - b->base_share) - fabs(a->share - a->base_share);

    if (certain != 0)
        return certain > 0 ? 1 : -1;
    if (change != 0)
        return change > 0 ? 1 : -1;
    return strcmp(a->name, b->name);
}

void diff_compare(struct diff *diff)
{
    match(diff);
    for (size_t i = 0; i < diff->count; ++i) {
        struct diff_row *row = &diff->rows[i];

        row->base_share = report_percent(&diff->base, &row->base) / 100;
        row->share = report_percent(&diff->now, &row->now) / 100;
    }
    count_comparisons(diff);
    for (size_t i = 0; i < diff->count; ++i) {
        struct diff_row *row = &diff->rows[i];
        struct interval_pair pair = pair_of(diff, row);

        row->change = interval_difference(&pair, diff->z);
        row->certain = interval_certain(&row->change);
        diff->news += row->certain != 0;
    }
    if (diff->count > 0)
        qsort(diff->rows, diff->count, sizeof *diff->rows, by_certainty);
}
