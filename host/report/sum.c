/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells become rows, edges and branches.
 *
 * A cell is one stack with its weight, so each stack is walked once however
 * many samples it has. The stamp of a row is the last cell counted there, so
 * that recursion does not count twice.
 */

#include "report/report.h"

#include "base/log.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static uint32_t row_of(struct report *report, struct frame frame, uint32_t task,
                       uint32_t cpu)
{
    struct report_row row = {0};
    uint32_t what, where, number;

    row.frame.function =
        (report->keys & REPORT_SYMBOL) != 0 ? frame.function : 0;
    row.frame.line = (report->keys & REPORT_LINE) != 0 ? frame.line : 0;
    row.task = (report->keys & REPORT_TASK) != 0 ? task : 0;
    row.cpu = (report->keys & REPORT_CPU) != 0 ? cpu : 0;
    what = index_add(&report->row_frames,
                     index_pair(row.frame.function, row.frame.line), NULL);
    where = index_add(&report->row_wheres, index_pair(row.task, row.cpu), NULL);
    number = index_add_row(&report->row_keys, index_pair(what, where),
                           &report->rows, &row, sizeof row);
    if (number == REPORT_ROWS_MAX)
        die("more than %u rows; choose fewer keys to sort by, or less of the "
            "trace",
            REPORT_ROWS_MAX);
    return number;
}

static void add_edge(struct report *report, uint32_t caller, uint32_t callee,
                     const struct model_count *count, uint64_t stamp)
{
    const struct report_edge edge = {.caller = caller, .callee = callee};
    uint32_t number =
        index_add_row(&report->edge_keys, index_pair(caller, callee),
                      &report->edges, &edge, sizeof edge);

    if (report->edges[number].stamp == stamp)
        return;
    report->edges[number].stamp = stamp;
    model_count_add(&report->edges[number].count, count);
}

static uint32_t branch_of(struct report *report, uint32_t parent, uint32_t row)
{
    bool is_new;
    uint32_t number =
        index_add(&report->branch_keys, index_pair(parent, row), &is_new);
    uint32_t *last;

    if (!is_new)
        return number;
    if (number == REPORT_BRANCHES_MAX)
        die("more than %u branches; choose less of the trace",
            REPORT_BRANCHES_MAX);
    vector_reserve_one(&report->branches, number, sizeof *report->branches);
    last =
        parent == REPORT_NONE ? &report->root : &report->branches[parent].child;
    report->branches[number] = (struct report_branch){
        .row = row, .child = REPORT_NONE, .sibling = *last};
    *last = number;
    return number;
}

/* (rows) is the stack, the innermost first; the sample is that one's self. */
static void add_branches(struct report *report, const uint32_t *rows,
                         size_t depth, const struct model_count *count)
{
    uint32_t at = REPORT_NONE;

    for (size_t i = 0; i < depth; ++i) {
        uint32_t row = rows[report->inverted ? i : depth - 1 - i];

        at = branch_of(report, at, row);
        model_count_add(&report->branches[at].total, count);
        if (i == (report->inverted ? 0 : depth - 1))
            model_count_add(&report->branches[at].self, count);
    }
}

static void add_stack(struct report *report, const uint32_t *rows, size_t depth,
                      const struct model_count *count, uint64_t stamp)
{
    if (depth > 0)
        model_count_add(&report->rows[rows[0]].self, count);
    for (size_t i = 0; i < depth; ++i) {
        struct report_row *row = &report->rows[rows[i]];

        if (row->stamp != stamp)
            model_count_add(&row->total, count);
        row->stamp = stamp;
        if (i > 0 && (report->callers || report->callees))
            add_edge(report, rows[i], rows[i - 1], count, stamp);
    }
    if (report->tree)
        add_branches(report, rows, depth, count);
}

/* Whether the samples of (node) were taken in the hypervisor. */
static bool is_exit(const struct report *report, uint32_t node)
{
    const struct model *model = &report->view.model;
    uint32_t leaf;

    return report->exits != NULL && model_stack(model, node, &leaf, 1) == 1 &&
           leaf >= MODEL_PSEUDOS &&
           exits_at(report->exits, model->nodes[leaf].address);
}

void report_add_up(struct report *report)
{
    static uint32_t rows[VIEW_FRAMES_MAX];
    struct view *view = &report->view;
    struct view_stack stack = {0};

    report->root = REPORT_NONE;
    if (view->own_apart && !view->with_own)
        report->own = view_own(view);
    while (view_next(view, &stack)) {
        const struct model_cell *cell = stack.cell;
        uint32_t task = view_task(view, cell->task);

        for (size_t i = 0; i < stack.depth; ++i)
            rows[i] = row_of(report, stack.frames[i], task, cell->cpu);
        add_stack(report, rows, stack.depth, &cell->count, stack.next);
        if (stack.depth > 0 && is_exit(report, cell->node))
            model_count_add(&report->rows[rows[0]].exits, &cell->count);
        model_count_add(&report->sum, &cell->count);
    }
}

/* ---- which rows, calls and branches are shown, and in which order */

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

bool report_has_intervals(const struct report *report)
{
    return !report->view.latency && report->view.blame == NULL;
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
    return report_has_intervals(report) && interval_is_few(count->samples);
}

static void add_choice(struct choices *choices, uint32_t number,
                       const struct model_count *count, uint64_t second,
                       double limit)
{
    if (report_percent(choices->report, count) < limit)
        return;
    VECTOR_ADD(choices->all, choices->count,
               (struct choice){
                   number, view_weight(&choices->report->view, count), second});
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

static uint32_t *sorted_choices(struct choices *choices, size_t *count)
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

        add_choice(&choices, i, first, view_weight(&report->view, second),
                   limit);
    }
    return sorted_choices(&choices, count);
}

uint32_t *report_calls(const struct report *report, uint32_t row, bool callers,
                       size_t *count)
{
    struct choices choices = {.report = report};

    for (uint32_t i = 0; i < report->edge_keys.count; ++i) {
        const struct report_edge *edge = &report->edges[i];

        if ((callers ? edge->callee : edge->caller) == row)
            add_choice(&choices, i, &edge->count, 0,
                       report->limit > 0 ? report->limit : 0);
    }
    return sorted_choices(&choices, count);
}

uint32_t *report_children(const struct report *report, uint32_t parent,
                          size_t *count)
{
    struct choices choices = {.report = report};
    uint32_t at =
        parent == REPORT_NONE ? report->root : report->branches[parent].child;

    for (; at != REPORT_NONE; at = report->branches[at].sibling)
        add_choice(&choices, at, &report->branches[at].total, 0,
                   report->limit >= 0 ? report->limit : 0.5);
    return sorted_choices(&choices, count);
}

/* ---- all */

void report_forget(struct report *report)
{
    free(report->rows);
    free(report->edges);
    free(report->branches);
    report->rows = NULL;
    report->edges = NULL;
    report->branches = NULL;
    report->sum = (struct model_count){0};
    index_free(&report->row_frames);
    index_free(&report->row_wheres);
    index_free(&report->row_keys);
    index_free(&report->edge_keys);
    index_free(&report->branch_keys);
}

void report_close(struct report *report)
{
    report_forget(report);
    view_close(&report->view);
}
