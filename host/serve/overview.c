/* SPDX-License-Identifier: Apache-2.0 */
/* The first page of `parasite open`: its payload is one JSON object. */

#include "serve/overview.h"

#include "base/json.h"
#include "page/page.h"
#include "trace/metadata.h"

#include <prof/format.h>
#include <stdlib.h>

#define ROWS 25u /* functions that are shown */

/* Whether the page of annotated code has the function of (row). */
static bool has_code(const struct report *report, const struct report_row *row)
{
    const struct view *view = &report->view;

    for (int i = 0; i < MODEL_PSEUDOS; ++i)
        if (row->frame.function == view->pseudo_names[i])
            return false;
    return view->names.image != NULL && image_file(&view->image) != NULL &&
           report_percent(report, &row->self) >= OPEN_CODE_PERCENT;
}

static json_t *function_of(const struct report *report,
                           const struct report_row *row)
{
    const struct view *view = &report->view;

    return json_pack("{sosososbsb}", "name",
                     json_text(names_text(&view->names, row->frame.function)),
                     "self", json_count(view_weight(view, &row->self)), "total",
                     json_count(view_weight(view, &row->total)), "code",
                     (int)has_code(report, row), "few",
                     (int)interval_is_few(row->self.samples));
}

static void put_functions(json_t *head, const struct report *report)
{
    json_t *list = json_array();
    size_t count, i;
    uint32_t *rows = report_rows(report, &count);

    for (i = 0; i < count && i < ROWS; ++i) {
        const struct report_row *row = &report->rows[rows[i]];

        if (view_weight(&report->view, &row->self) == 0)
            break;
        json_array_append_new(list, function_of(report, row));
    }
    json_set(head, "weight",
             json_count(view_weight(&report->view, &report->sum)));
    json_set(head, "functions", list);
    json_set(head, "functions_not_shown", json_count(count - i));
    free(rows);
}

/* By the names of LOSSES in host/pages/shared/losses.js. */
static json_t *losses_of(const struct model *model, uint64_t own)
{
    return json_pack("{sosososososo}", "missed",
                     json_count(model->missed_ticks), "dropped",
                     json_count(model->dropped.samples), "packets",
                     json_count(model->missing_packets), "discarded",
                     json_count(model->discarded), "stolen",
                     json_count(model->stolen_clocks), "own", json_count(own));
}

static json_t *head_of(const struct report *report, unsigned port)
{
    const struct view *view = &report->view;
    const struct model *model = &view->model;
    json_t *head = json_object();
    char build_id[65];

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
    json_set(head, "own", json_count(view_weight(view, &report->own)));
    json_set(head, "idle", json_count(model->idle.samples));
    json_set(head, "losses", losses_of(model, report->own.samples));
    put_functions(head, report);
    return head;
}

bool open_overview(const struct serve_order *order, FILE *out)
{
    struct report *report = order->owner;

    report_add_up(report);
    return page_write_head(
        &page_overview, head_of(report, serve_port(order->server)), NULL, out);
}
