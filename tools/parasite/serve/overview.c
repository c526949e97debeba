/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first page of `parasite open`: HTML without a script, and with a policy
 * that forbids scripts and network access.
 */

#include "serve/overview.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "trace/metadata.h"

#include <inttypes.h>
#include <stdlib.h>

#define ROWS 25u /* functions that are shown */

struct row {
    uint32_t function;
    uint64_t weight;
};

struct rows {
    struct row *rows;
    struct index functions;
    uint64_t sum;
};

static const char head[] =
    "<!doctype html>\n<html lang=en><meta charset=utf-8>\n"
    "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\">\n"
    "<meta name=viewport content='width=device-width'>\n"
    "<title>parasite</title>\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;"
    "padding:0 1em}\n"
    "td{padding:0 1em 0 0;vertical-align:top;overflow-wrap:anywhere}\n"
    ".n{text-align:right;white-space:nowrap}\n"
    "</style>\n<h1>parasite</h1>\n"
    "<p><a href=flame.html>The flame graph</a>, with a time line, callers and "
    "callees, and search\n";

static const char viewers_text[] =
    "<h2>For other viewers</h2>\n<ul>\n"
    "<li><a href=profile.json>profile.json</a>: Firefox Profiler, "
    "<a href='https://profiler.firefox.com/from-url/"
    "http%%3A%%2F%%2F127.0.0.1%%3A%u%%2Fprofile.json/'>open there</a>\n"
    "<li><a href=profile.pb.gz>profile.pb.gz</a>: "
    "<code>go tool pprof http://127.0.0.1:%u/profile.pb.gz</code>\n"
    "<li><a href=profile.folded>profile.folded</a>: flamegraph.pl; speedscope, "
    "<a href='https://www.speedscope.app/#profileURL="
    "http%%3A%%2F%%2F127.0.0.1%%3A%u%%2Fprofile.folded'>open there</a>\n"
    "<li><a href=profile.perfetto-trace>profile.perfetto-trace</a>: "
    "<a href='https://ui.perfetto.dev/'>ui.perfetto.dev</a>\n"
    "<li><a href=profile.trace.json>profile.trace.json</a>: Chrome's "
    "about:tracing and ui.perfetto.dev\n"
    "<li><a href=perf.data>perf.data</a>: <code>perf report -i perf.data"
    "</code>\n"
    "<li><a href=callgrind.out>callgrind.out</a>: kcachegrind\n"
    "</ul>\n";

static void put_html(FILE *out, const char *text)
{
    while (*text != '\0') {
        int bytes = utf8_bytes(text);

        if (bytes == 0)
            fputs("\xef\xbf\xbd", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fwrite(text, 1, (size_t)bytes, out);
        text += bytes > 0 ? bytes : 1;
    }
}

static void add_cell(struct rows *rows, struct view *view,
                     const struct model_cell *cell)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    size_t depth = view_frames(view, cell->node, frames);
    uint64_t weight = view_weight(view, &cell->count);
    bool is_new;
    uint32_t number;

    if (depth == 0 || !view_wants(view, cell->task, cell->cpu, frames, depth))
        return;
    number = index_add(&rows->functions, frames[0].function, &is_new);
    if (is_new) {
        vector_reserve_one(&rows->rows, number, sizeof *rows->rows);
        rows->rows[number] = (struct row){frames[0].function, 0};
    }
    rows->rows[number].weight += weight;
    rows->sum += weight;
}

static int by_weight(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

static void put_functions(FILE *out, struct view *view)
{
    struct rows rows = {0};

    for (uint32_t i = 0; i < model_cells(&view->model); ++i)
        add_cell(&rows, view, &view->model.cells[i]);
    if (rows.functions.count > 0)
        qsort(rows.rows, rows.functions.count, sizeof *rows.rows, by_weight);
    fprintf(out, "<h2>Hottest functions</h2>\n<table>\n");
    for (uint32_t i = 0; i < rows.functions.count && i < ROWS; ++i) {
        double share = rows.sum > 0 ? 100.0 * (double)rows.rows[i].weight /
                                          (double)rows.sum
                                    : 0;

        fprintf(out, "<tr><td class=n>%.2f %%<td>", share);
        put_html(out, names_text(&view->names, rows.rows[i].function));
        putc('\n', out);
    }
    fputs("</table>\n", out);
    if (rows.functions.count > ROWS)
        fprintf(out, "<p>and %u more functions\n",
                (unsigned)(rows.functions.count - ROWS));
    free(rows.rows);
    index_free(&rows.functions);
}

static void put_facts(FILE *out, const struct view *view)
{
    const struct model *model = &view->model;
    char build_id[65];

    metadata_build_id(&model->hello, build_id);
    fputs("<p><b>", out);
    put_html(out, view->input);
    fprintf(out,
            "</b>: %" PRIu64 " samples in %.3f s at %.3f Hz, %" PRIu64
            " lost<br>image ",
            model_samples(model),
            (double)(model->end - model->begin) / PROF_CLOCK_HZ,
            model->rate_mhz / 1000.0, model_lost(model));
    put_html(out, view->names.image != NULL ? view->image_path : "unknown");
    fprintf(out, ", %s, build-id %s\n", metadata_arch(&model->hello), build_id);
}

bool open_overview(const struct serve_order *order, FILE *out)
{
    struct served_trace *opened = order->owner;
    unsigned port = serve_port(order->server);

    fputs(head, out);
    put_facts(out, &opened->view);
    put_functions(out, &opened->view);
    fprintf(out, viewers_text, port, port, port);
    return ferror(out) == 0;
}
