/* SPDX-License-Identifier: Apache-2.0 */
/* From a live guest's cells to weights: since the reset, and recent. */

#include "top/model.h"

#include "base/log.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void open_names(struct top_model *top, struct image *image)
{
    static const char *const pseudo[MODEL_PSEUDOS] = {
        "[empty stack]", TOP_IDLE, "[dropped]", "[callers unknown]",
        "[stack unknown]"};
    struct view *view = &top->report.view;

    names_open(&view->names, image, false, false);
    for (size_t i = 0; i < MODEL_PSEUDOS; ++i)
        view->pseudo_names[i] = names_put(&view->names, pseudo[i]);
}

void top_model_open(struct top_model *top, struct live *live,
                    const struct request *request, struct image *image,
                    bool by_time)
{
    *top = (struct top_model){.live = live};
    top->report = (struct report){.keys = REPORT_SYMBOL,
                                  .callers = true,
                                  .callees = true,
                                  .root = REPORT_NONE};
    top->report.view.by_time = by_time;
    top->report.view.force = request->force;
    top->report.view.image_path = request->image;
    if (request->image != NULL)
        top->report.view.image = *image;
    open_names(top, request->image != NULL ? &top->report.view.image : NULL);
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
    report_forget(&top->report);
    names_close(&view->names);
    image_close(&view->image);
    if (view->image_path != NULL)
        image_open(&view->image, view->image_path);
    open_names(top, view->image_path != NULL ? &view->image : NULL);
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
    report_forget(&top->report);
    names_close(&view->names);
    image_close(&view->image);
    view->image_from = image_find_cached(&view->image, hello);
    open_names(top,
               view->image_from != IMAGE_FROM_NOWHERE ? &view->image : NULL);
}

static void make_room(struct top_model *top, uint32_t count)
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
    make_room(top, model_cells(model));
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

void top_model_close(struct top_model *top)
{
    struct view *view = &top->report.view;

    report_forget(&top->report);
    names_close(&view->names);
    image_close(&view->image);
    free(top->cells);
    free(top->shown);
    free(top->rows);
}
