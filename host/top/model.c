/* SPDX-License-Identifier: Apache-2.0 */
/* From a live guest's cells to weights: since the reset, and recent; and from
 * these to the list that is shown: functions, or the callers and callees of one
 * of them. */

#include "top/model.h"

#include "base/checked.h"
#include "base/log.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void top_model_open(struct top_model *top, struct live *live,
                    const struct request *request, struct image *image,
                    enum model_weight weight)
{
    *top = (struct top_model){.live = live};
    top->report = (struct report){.keys = REPORT_SYMBOL,
                                  .callers = true,
                                  .callees = true,
                                  .root = REPORT_NONE};
    top->report.view.weight = weight;
    top->report.view.force = request->force;
    top->report.view.image_path = request->image;
    if (request->image != NULL)
        top->report.view.image = *image;
    view_set_image(&top->report.view,
                   request->image != NULL ? &top->report.view.image : NULL);
}

/* And what has them. */
static void forget_names(struct top_model *top)
{
    report_forget(&top->report);
    names_close(&top->report.view.names);
    image_close(&top->report.view.image);
}

/* Another boot, perhaps of an image that was linked anew. */
static void begin_boot(struct top_model *top, struct top_ui *ui)
{
    struct view *view = &top->report.view;
    bool first = top->boots == 0;

    top->boots = top->live->boots;
    top->checked = false;
    top->cell_count = 0;
    top->clock = top->base_clock = top->live->model.begin;
    top->base_lost = top->base_missed = top->base_stolen = 0;
    top->lately_samples = top->lately_seconds = 0;
    if (first)
        return;
    top_set_list(ui, NULL, 0);
    top->count = 0;
    forget_names(top);
    if (view->image_path != NULL)
        image_open(&view->image, view->image_path);
    view_set_image(view, view->image_path != NULL ? &view->image : NULL);
}

/* Whether the guest runs the image. The first one must; a later one that does
 * not, and one without an image, has names if it is in the cache. */
static void check_image(struct top_model *top)
{
    struct view *view = &top->report.view;
    const struct event_hello *hello = &top->live->model.hello;

    if (view->image_path != NULL &&
        image_fits(&view->image, hello, view->force))
        return;
    if (view->image_path != NULL && top->boots == 1)
        exit(STATUS_DATA);
    forget_names(top);
    view->image_from = image_find_cached(&view->image, hello);
    view_set_image(view, view->image_from != IMAGE_FROM_NOWHERE ? &view->image
                                                                : NULL);
}

static void make_room_for_cells(struct top_model *top, uint32_t count)
{
    if (count <= top->cell_count)
        return;
    top->cells = xreallocarray(top->cells, count, sizeof *top->cells);
    top->shown = xreallocarray(top->shown, count, sizeof *top->shown);
    memset(top->cells + top->cell_count, 0,
           (count - top->cell_count) * sizeof *top->cells);
    top->cell_count = count;
}

void top_model_update(struct top_model *top, struct top_ui *ui)
{
    const struct model *model = &top->live->model;
    double seconds, kept;
    bool hello; /* came just now */

    if (top->boots != top->live->boots)
        begin_boot(top, ui);
    hello = !top->checked && model->hello.version != 0;
    top->checked = top->checked || hello;
    if (hello)
        check_image(top);
    seconds = (double)(model->end - top->clock) / PROF_CLOCK_HZ;
    kept = exp2(-seconds / TOP_HALF_SECONDS);
    top->clock = model->end;
    top->lately_seconds = top->lately_seconds * kept + seconds;
    top->lately_samples *= kept;
    make_room_for_cells(top, model_cells(model));
    for (uint32_t i = 0; i < top->cell_count; ++i) {
        struct top_cell *cell = &top->cells[i];
        const struct model_count *now = &model->cells[i].count;
        double samples = (double)(now->samples - cell->last.samples);

        cell->samples = cell->samples * kept + samples;
        cell->clocks =
            cell->clocks * kept + (double)(now->clocks - cell->last.clocks);
        cell->last = *now;
        top->lately_samples += samples;
    }
    top->warms_up = top->boots > 0 && top->live->late &&
                    (hello || !top->checked) && !top->live->ended;
    if (hello && top->live->late)
        top_model_reset(
            top); /* most of the earlier stacks were not known yet */
}

void top_model_reset(struct top_model *top)
{
    for (uint32_t i = 0; i < top->cell_count; ++i) {
        struct top_cell *cell = &top->cells[i];

        *cell = (struct top_cell){.base = cell->last, .last = cell->last};
    }
    top->base_clock = top->clock;
    top->base_lost = live_lost(top->live);
    top->base_missed = top->live->model.missed_ticks;
    top->base_stolen = top->live->model.stolen_clocks;
    top->lately_samples = top->lately_seconds = 0;
}

double top_model_rate(const struct top_model *top)
{
    return top->lately_seconds > 0 ? top->lately_samples / top->lately_seconds
                                   : 0;
}

double top_model_seconds(const struct top_model *top)
{
    return (double)(top->clock - top->base_clock) / PROF_CLOCK_HZ;
}

uint64_t top_model_lost(const struct top_model *top)
{
    return live_lost(top->live) - top->base_lost;
}

uint64_t top_model_missed(const struct top_model *top)
{
    return top->live->model.missed_ticks - top->base_missed;
}

double top_model_stolen(const struct top_model *top)
{
    uint64_t stolen = top->live->model.stolen_clocks - top->base_stolen;
    uint64_t whole = top->clock - top->base_clock;

    return whole > 0 ? 100.0 * (double)stolen / (double)whole : 0;
}

/* ---- the list */

/* Fractional weights are counted in such parts of a sample. */
#define PARTS 256.0

/* Sets each cell to the weight that is shown. */
static void weigh_cells(struct top_model *top, bool since_reset)
{
    for (uint32_t i = 0; i < top->cell_count; ++i) {
        const struct top_cell *cell = &top->cells[i];
        struct model_cell *shown = &top->shown[i];

        *shown = top->live->model.cells[i];
        if (since_reset)
            shown->count = (struct model_count){
                .samples =
                    (uint64_t)PARTS * (cell->last.samples - cell->base.samples),
                .clocks = cell->last.clocks - cell->base.clocks,
            };
        else
            shown->count = (struct model_count){
                .samples = checked_u64(cell->samples * PARTS + 0.5),
                .clocks = checked_u64(cell->clocks + 0.5),
            };
    }
}

static void add_up_cells(struct top_model *top)
{
    view_set_snapshot(&top->report.view, &top->live->model, top->shown,
                      top->cell_count);
    report_forget(&top->report);
    report_add_up(&top->report);
    view_drop_snapshot(&top->report.view);
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

static void put_row(struct top_model *top, struct top_row row)
{
    vector_reserve_one(&top->rows, top->count, sizeof row);
    top->rows[top->count++] = row;
}

static void put_functions(struct top_model *top, double seconds)
{
    for (uint32_t i = 0; i < top->report.row_keys.count; ++i) {
        struct top_row row = row_of(top, i, seconds);

        if (row.total > 0)
            put_row(top, row);
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
            put_row(top, row);
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

/* How busy (cpu) was, in per cent of what is counted; -1 = it is not known. */
static double busy_of(const struct top_model *top, uint32_t cpu)
{
    double busy = 0, all = 0;

    for (uint32_t i = 0; i < top->cell_count; ++i) {
        const struct model_cell *cell = &top->shown[i];
        double weight = (double)view_weight(&top->report.view, &cell->count);

        if (cell->cpu != cpu)
            continue;
        all += weight;
        busy += cell->node != MODEL_IDLE ? weight : 0;
    }
    return all > 0 ? 100 * busy / all : -1;
}

#define MORE ", ..."

static void put_busy(struct top_model *top)
{
    const struct model *model = &top->live->model;
    size_t used = 0;

    *top->busy = '\0';
    if (model_sampled_cpus(model) < 2)
        return;
    for (size_t i = 0; i < model->cpu_count; ++i) {
        double busy = busy_of(top, model->cpus[i].cpu);
        char one[40];
        size_t bytes;

        if (busy < 0)
            continue;
        snprintf(one, sizeof one, "%sCPU %u %.0f %%", used > 0 ? ", " : "",
                 (unsigned)model->cpus[i].cpu, busy);
        bytes = strlen(one);
        if (used + bytes + sizeof MORE > TOP_BUSY) {
            strcpy(top->busy + used, MORE);
            return;
        }
        memcpy(top->busy + used, one, bytes + 1);
        used += bytes;
    }
}

/* Of all CPUs, then of each that is sampled, in the order of their numbers. */
static void choose_cpu(const struct model *model, struct top_ui *ui)
{
    bool found = false;
    uint32_t next = 0;

    for (size_t i = 0; i < model->cpu_count; ++i) {
        const struct model_cpu *cpu = &model->cpus[i];

        if (cpu->busy.samples + cpu->idle.samples == 0 ||
            (ui->has_cpu && cpu->cpu <= ui->cpu) || (found && cpu->cpu > next))
            continue;
        found = true;
        next = cpu->cpu;
    }
    ui->has_cpu = found && model_sampled_cpus(model) > 1;
    ui->cpu = next;
}

void top_model_list(struct top_model *top, struct top_ui *ui)
{
    const char *zoomed = top_zoomed(ui);
    double seconds =
        ui->since_reset ? top_model_seconds(top) : top->lately_seconds;
    struct top_row *before = top->rows;

    for (; ui->next_cpu > 0; --ui->next_cpu)
        choose_cpu(&top->live->model, ui);
    top->report.view.has_cpu = ui->has_cpu;
    top->report.view.cpu = ui->cpu;
    weigh_cells(top, ui->since_reset);
    add_up_cells(top);
    top->rows = NULL;
    top->count = 0;
    top->idle = idle_of(top);
    put_busy(top);
    if (zoomed != NULL)
        put_zoomed(top, zoomed, seconds);
    else
        put_functions(top, seconds);
    if (zoomed == NULL)
        top->count =
            top_rows_filter(top->rows, top->count,
                            ui->has_regex ? &ui->regex : NULL, !ui->no_idle);
    top_rows_sort(top->rows, top->count, ui->sort);
    top_set_list(ui, top->rows, top->count);
    free(before);
}

void top_model_close(struct top_model *top)
{
    forget_names(top);
    free(top->cells);
    free(top->shown);
    free(top->rows);
}
