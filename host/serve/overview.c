/* SPDX-License-Identifier: Apache-2.0 */
/* The first page of `parasite open`: its payload is one JSON object. */

#include "serve/overview.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "page/page.h"
#include "profile/interval.h"
#include "trace/metadata.h"

#include <prof/format.h>
#include <stdlib.h>

#define ROWS 25u /* functions that are shown */

struct row {
    uint32_t function;
    uint32_t last_cell; /* that it was counted in, + 1 */
    uint64_t self;
    uint64_t total;
    uint64_t samples; /* of self */
    bool is_code;     /* not [idle] and the like */
};

struct rows {
    struct row *rows;
    struct index functions;
    uint64_t sum;
};

static struct row *row_of(struct rows *rows, uint32_t function)
{
    bool is_new;
    uint32_t number = index_add(&rows->functions, function, &is_new);

    if (is_new) {
        vector_reserve_one(&rows->rows, number, sizeof *rows->rows);
        rows->rows[number] = (struct row){.function = function};
    }
    return &rows->rows[number];
}

/* A function that is in the stack several times counts once. */
static void add_cell(struct rows *rows, struct view *view, uint32_t number)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    const struct model_cell *cell = &view->model.cells[number];
    size_t depth = view_frames(view, cell->node, frames);
    uint64_t weight = view_weight(view, &cell->count);
    struct row *leaf;

    if (!view_wants(view, cell->task, cell->cpu, frames, depth))
        return;
    rows->sum += weight;
    if (depth == 0)
        return;
    for (size_t i = 0; i < depth; ++i) {
        struct row *row = row_of(rows, frames[i].function);

        if (row->last_cell != number + 1)
            row->total += weight;
        row->last_cell = number + 1;
    }
    leaf = row_of(rows, frames[0].function);
    leaf->self += weight;
    leaf->samples += cell->count.samples;
    leaf->is_code = cell->node >= MODEL_PSEUDOS;
}

static int by_self(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

/* Whether the page of annotated code has the function of (row). */
static bool has_code(const struct rows *rows, const struct view *view,
                     const struct row *row)
{
    return view->names.image != NULL && image_file(&view->image) != NULL &&
           row->is_code &&
           100.0 * (double)row->self >= OPEN_CODE_PERCENT * (double)rows->sum;
}

static void put_functions(json_t *head, struct view *view)
{
    json_t *list = json_array();
    struct rows rows = {0};
    uint32_t count, i;

    for (i = 0; i < model_cells(&view->model); ++i)
        add_cell(&rows, view, i);
    count = rows.functions.count;
    if (count > 0)
        qsort(rows.rows, count, sizeof *rows.rows, by_self);
    for (i = 0; i < count && i < ROWS && rows.rows[i].self > 0; ++i) {
        const struct row *row = &rows.rows[i];

        json_array_append_new(
            list, json_pack("{sosososbsb}", "name",
                            json_text(names_text(&view->names, row->function)),
                            "self", json_count(row->self), "total",
                            json_count(row->total), "code",
                            (int)has_code(&rows, view, row), "few",
                            (int)interval_is_few(row->samples)));
    }
    json_set(head, "weight", json_count(rows.sum));
    json_set(head, "functions", list);
    json_set(head, "functions_not_shown", json_count(count - i));
    free(rows.rows);
    index_free(&rows.functions);
}

/* By the names of LOSSES in host/pages/shared/losses.js. */
static json_t *losses_of(const struct model *model,
                         const struct model_count *own)
{
    return json_pack(
        "{sosososososo}", "missed", json_count(model->missed_ticks), "dropped",
        json_count(model->dropped.samples), "packets",
        json_count(model->missing_packets), "discarded",
        json_count(model->discarded), "stolen",
        json_count(model->stolen_clocks), "own", json_count(own->samples));
}

static json_t *head_of(struct view *view, unsigned port)
{
    const struct model *model = &view->model;
    struct model_count own = {0};
    json_t *head = json_object();
    char build_id[65];

    if (!view->with_own)
        own = view_own(view);

    metadata_build_id(&model->hello, build_id);
    json_set(head, "port", json_count(port));
    json_set(head, "trace", json_text(view->input));
    json_set(head, "image",
             view->names.image != NULL ? json_text(view->image.path)
                                       : json_null());
    json_set(head, "build_id", json_text(build_id));
    json_set(head, "arch", json_text(metadata_arch(&model->hello)));
    json_set(head, "hz", json_real(model->rate_mhz / 1000.0));
    json_set(head, "samples", json_count(model_samples(model)));
    json_set(head, "clocks", json_count(model->end - model->begin));
    json_set(head, "steady", json_boolean(model_is_steady(model)));
    json_set(head, "own", json_count(view_weight(view, &own)));
    json_set(head, "idle", json_count(model->idle.samples));
    json_set(head, "losses", losses_of(model, &own));
    put_functions(head, view);
    return head;
}

bool open_overview(const struct serve_order *order, FILE *out)
{
    struct served_trace *opened = order->owner;

    return page_write_head(&page_overview,
                           head_of(&opened->view, serve_port(order->server)),
                           NULL, out);
}
