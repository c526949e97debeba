/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows, calls and branches are shown, and in which order. */

#include "report/report.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct choice {
    uint32_t number;
    uint64_t weight;
    uint64_t second; /* decides between equal weights */
};

struct choices {
    const struct report *report;
    struct choice *all;
    size_t count;
};

double report_percent(const struct report *report,
                      const struct model_count *count)
{
    uint64_t whole = view_weight(&report->view, &report->sum);

    return whole > 0 ? 100.0 * (double)view_weight(&report->view, count) /
                           (double)whole
                     : 0;
}

bool report_interval(const struct report *report,
                     const struct model_count *count, struct interval *percent)
{
    double hits = (double)count->samples, whole = (double)report->sum.samples;
    struct interval share =
        interval_share(hits, whole, interval_z(REPORT_CONFIDENCE, 1));
    double scale =
        hits > 0 ? report_percent(report, count) / (hits / whole) : 100;

    *percent =
        (struct interval){scale * share.low, fmin(scale * share.high, 100)};
    return interval_is_few(count->samples);
}

static void choose(struct choices *choices, uint32_t number,
                   const struct model_count *count, uint64_t second,
                   double limit)
{
    if (report_percent(choices->report, count) < limit)
        return;
    vector_reserve_one(&choices->all, choices->count, sizeof *choices->all);
    choices->all[choices->count++] = (struct choice){
        number, view_weight(&choices->report->view, count), second};
}

static int by_weight(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->second != b->second)
        return a->second > b->second ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static uint32_t *sorted(struct choices *choices, size_t *count)
{
    uint32_t *numbers = xreallocarray(NULL, choices->count, sizeof *numbers);

    if (choices->count > 0)
        qsort(choices->all, choices->count, sizeof *choices->all, by_weight);
    for (size_t i = 0; i < choices->count; ++i)
        numbers[i] = choices->all[i].number;
    *count = choices->count;
    free(choices->all);
    return numbers;
}

uint32_t *report_rows(const struct report *report, size_t *count)
{
    struct choices choices = {.report = report};
    double limit = report->limit > 0 ? report->limit : 0;

    for (uint32_t i = 0; i < report->row_keys.count; ++i) {
        const struct report_row *row = &report->rows[i];
        const struct model_count *first =
            report->by_total ? &row->total : &row->self;
        const struct model_count *second =
            report->by_total ? &row->self : &row->total;

        choose(&choices, i, first, view_weight(&report->view, second), limit);
    }
    return sorted(&choices, count);
}

uint32_t *report_calls(const struct report *report, uint32_t row, bool callers,
                       size_t *count)
{
    struct choices choices = {.report = report};

    for (uint32_t i = 0; i < report->edge_keys.count; ++i) {
        const struct report_edge *edge = &report->edges[i];

        if ((callers ? edge->callee : edge->caller) == row)
            choose(&choices, i, &edge->count, 0,
                   report->limit > 0 ? report->limit : 0);
    }
    return sorted(&choices, count);
}

uint32_t *report_children(const struct report *report, uint32_t parent,
                          size_t *count)
{
    struct choices choices = {.report = report};
    uint32_t at =
        parent == REPORT_NONE ? report->root : report->branches[parent].child;

    for (; at != REPORT_NONE; at = report->branches[at].sibling)
        choose(&choices, at, &report->branches[at].total, 0,
               report->limit >= 0 ? report->limit : 0.5);
    return sorted(&choices, count);
}
