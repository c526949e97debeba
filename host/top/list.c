/* SPDX-License-Identifier: Apache-2.0 */
/* From weights to the list that is shown: functions, or the callers and callees
 * of one of them. */

#include "base/checked.h"
#include "base/memory.h"
#include "top/model.h"

#include <stdlib.h>
#include <string.h>

/* Fractional weights are counted in such parts of a sample. */
#define PARTS 256.0

/* Sets each cell to the weight that is shown. */
static void weigh(struct top_model *top, bool since_reset)
{
    for (uint32_t i = 0; i < top->cell_count; ++i) {
        const struct top_cell *cell = &top->cells[i];
        struct model_cell *shown = &top->shown[i];

        *shown = top->live->model.cells[i];
        if (since_reset)
            shown->count = (struct model_count){
                (uint64_t)PARTS * (cell->last.samples - cell->base.samples),
                cell->last.clocks - cell->base.clocks};
        else
            shown->count =
                (struct model_count){checked_u64(cell->samples * PARTS + 0.5),
                                     checked_u64(cell->clocks + 0.5)};
    }
}

static void add_up(struct top_model *top)
{
    struct model *model = &top->report.view.model;

    *model = top->live->model;
    model->cells = top->shown;
    model->cell_keys.count = top->cell_count;
    report_forget(&top->report);
    report_add_up(&top->report);
    *model = (struct model){0};
}

static struct top_row row_of(const struct top_model *top, uint32_t number,
                             double seconds)
{
    const struct report *report = &top->report;
    const struct report_row *row = &report->rows[number];

    return (struct top_row){
        .name = names_text(&report->view.names, row->frame.function),
        .self = report_percent(report, &row->self),
        .total = report_percent(report, &row->total),
        .rate = seconds > 0 ? (double)row->self.samples / PARTS / seconds : 0,
    };
}

static void put(struct top_model *top, struct top_row row)
{
    vector_reserve_one(&top->rows, top->count, sizeof row);
    top->rows[top->count++] = row;
}

static void put_all(struct top_model *top, double seconds)
{
    for (uint32_t i = 0; i < top->report.row_keys.count; ++i) {
        struct top_row row = row_of(top, i, seconds);

        if (row.total > 0)
            put(top, row);
    }
}

/* Callers or callees of the row numbered (of). */
static void put_calls(struct top_model *top, uint32_t of, bool callers,
                      double seconds)
{
    const struct report *report = &top->report;
    size_t count;
    uint32_t *calls = report_calls(report, of, callers, &count);

    for (size_t i = 0; i < count; ++i) {
        const struct report_edge *edge = &report->edges[calls[i]];
        struct top_row row =
            row_of(top, callers ? edge->caller : edge->callee, seconds);

        row.kind = callers ? TOP_CALLER : TOP_CALLEE;
        row.self = row.total = report_percent(report, &edge->count);
        row.rate =
            seconds > 0 ? (double)edge->count.samples / PARTS / seconds : 0;
        if (row.total > 0)
            put(top, row);
    }
    free(calls);
}

static void put_zoomed(struct top_model *top, const char *name, double seconds)
{
    const struct report *report = &top->report;

    top->zoomed = (struct top_row){.name = name};
    for (uint32_t i = 0; i < report->row_keys.count; ++i) {
        struct top_row row = row_of(top, i, seconds);

        if (strcmp(row.name, name) != 0)
            continue;
        top->zoomed = row;
        put_calls(top, i, true, seconds);
        put_calls(top, i, false, seconds);
    }
}

static double idle_of(const struct top_model *top)
{
    double idle = 0;

    for (uint32_t i = 0; i < top->report.row_keys.count; ++i) {
        struct top_row row = row_of(top, i, 0);

        if (strcmp(row.name, TOP_IDLE) == 0)
            idle += row.self;
    }
    return idle;
}

void top_model_list(struct top_model *top, struct top_ui *ui)
{
    const char *zoomed = top_zoomed(ui);
    double seconds =
        ui->since_reset ? top_model_seconds(top) : top->lately_seconds;
    struct top_row *before = top->rows;

    weigh(top, ui->since_reset);
    add_up(top);
    top->rows = NULL;
    top->count = 0;
    top->idle = idle_of(top);
    if (zoomed != NULL)
        put_zoomed(top, zoomed, seconds);
    else
        put_all(top, seconds);
    if (zoomed == NULL)
        top->count =
            top_rows_filter(top->rows, top->count,
                            ui->has_regex ? &ui->regex : NULL, !ui->no_idle);
    top_rows_sort(top->rows, top->count, ui->sort);
    top_set_list(ui, top->rows, top->count);
    free(before);
}
