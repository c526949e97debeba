/* SPDX-License-Identifier: Apache-2.0 */
/* The first page of `parasite open`: its payload is one JSON object. */

#include "serve/overview.h"

#include "base/json.h"
#include "occupancy/occupancy.h"
#include "page/page.h"
#include "profile/weigh.h"
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

/* ---- the event loop, where the guest has counted it */

/* (cycles) in ns. */
static json_t *loop_ns(const struct occupancy *occupancy, double cycles)
{
    return json_real(cycles * 1e9 / (double)occupancy->tsc_hz);
}

static json_t *loop_site(const struct occupancy *occupancy, uint32_t number)
{
    const struct occupancy_snapshot *now = &occupancy->now;
    const struct occupancy_site *site = &now->sites[number];
    const struct event_loop_row *row = &site->row;
    const struct event_loop_call *call = &site->call;
    double mean =
        call->calls > 0 ? (double)call->time / (double)call->calls : 0;
    json_t *object = json_object();

    json_set(object, "site", json_text(occupancy_name(occupancy, number)));
    json_set(object, "file", json_text(occupancy_file(occupancy, number)));
    json_set(object, "line", json_count(occupancy_line(occupancy, number)));
    json_set(object, "future", json_boolean(site->future));
    json_set(object, "own",
             json_real(occupancy_busy(now->account.wall,
                                      now->account.wall - row->own)));
    json_set(object, "made", json_count(row->calls));
    json_set(object, "pending", json_count(row->pending));
    json_set(object, "run_p99", loop_ns(occupancy, (double)row->run_p99));
    json_set(object, "longest_run", loop_ns(occupancy, (double)row->longest));
    json_set(object, "delay_p99", loop_ns(occupancy, (double)row->delay_p99));
    json_set(object, "ended", json_count(call->calls));
    json_set(object, "mean", loop_ns(occupancy, mean));
    json_set(object, "p50", loop_ns(occupancy, (double)call->p50));
    json_set(object, "p90", loop_ns(occupancy, (double)call->p90));
    json_set(object, "p99", loop_ns(occupancy, (double)call->p99));
    json_set(object, "longest", loop_ns(occupancy, (double)call->longest));
    json_set(object, "longest_task", json_count(call->longest_task));
    return object;
}

static json_t *loop_sites(const struct occupancy *occupancy)
{
    const struct occupancy_snapshot *now = &occupancy->now;
    json_t *list = json_array();
    uint32_t count;
    uint32_t *sites =
        occupancy_sorted(occupancy, now, OCCUPANCY_BY_SELF, &count);

    for (uint32_t i = 0; i < count; ++i)
        if (occupancy_kind(now, sites[i]) != OCCUPANCY_IDLE)
            json_array_append_new(list, loop_site(occupancy, sites[i]));
    free(sites);
    return list;
}

static void take_packet(void *cpus, const struct packet *packet)
{
    occupancy_cpus_take(cpus, packet);
}

/* Of all CPUs together. null: nothing is known of it. */
static json_t *loop_of(const struct view *view)
{
    struct occupancy_cpus cpus = {.from = view->model.from,
                                  .to = view->model.to};
    struct packet_sink sink = {take_packet, &cpus};
    struct occupancy sum = {0};
    const struct occupancy *occupancy = &sum;
    const struct event_loop *account;
    json_t *object = json_null();

    trace_each(&view->trace, &sink);
    occupancy_cpus_finish(&cpus);
    if (cpus.count == 1)
        occupancy = &cpus.all[0].occupancy;
    else
        occupancy_cpus_sum(&cpus, &sum);
    account = &occupancy->now.account;
    if (cpus.count > 0 && occupancy->tsc_hz != 0) {
        object = json_object();
        json_set(object, "busy",
                 json_real(occupancy_busy(account->wall,
                                          account->idle + account->stolen)));
        json_set(object, "refused", json_count(occupancy->now.calls_refused));
        json_set(object, "loops", json_count(cpus.count));
        json_set(object, "sites", loop_sites(occupancy));
    }
    occupancy_free(&sum);
    occupancy_cpus_free(&cpus);
    return object;
}

/* ---- several CPUs, and code with interrupts off */

/* What they did at once: null if no samples belong together. */
static json_t *ticks_of(struct view *view)
{
    struct ticks ticks = {0};
    json_t *object = json_null(), *busy;

    weigh_list(view, &ticks);
    if (ticks.ticks > 0) {
        object = json_object();
        busy = json_array();
        json_set(object, "samples", json_count(ticks.samples));
        json_set(object, "joined", json_count(ticks.joined));
        for (size_t i = 0; i <= ticks.cpu_count; ++i)
            json_array_append_new(busy, json_count(ticks.busy[i]));
        json_set(object, "busy", busy);
    }
    ticks_free(&ticks);
    return object;
}

static void put_cpus(json_t *head, struct view *view)
{
    struct weighed off = {0};

    weigh_list_off(view, &off);
    json_set(head, "cpus", report_cpus_json(&view->model));
    json_set(head, "ticks", ticks_of(view));
    json_set(head, "irqs_off_clocks", json_count(off.off.clocks));
    json_set(head, "all_clocks", json_count(model_clocks(&view->model)));
    json_set(head, "stretches", report_stretches_json(view, &off));
    /* stretches begin so long after the trace, the graph so long after it */
    json_set(
        head, "from_ns",
        json_count(checked_mul(checked_sub(view->model.from, view->model.begin),
                               MODEL_NS_PER_CLOCK)));
}

static json_t *head_of(struct report *report, unsigned port)
{
    struct view *view = &report->view;
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
    put_cpus(head, view);
    json_set(head, "loop", loop_of(view));
    return head;
}

bool open_overview(const struct serve_order *order, FILE *out)
{
    struct report *report = order->owner;

    report_add_up(report);
    return page_write_head(
        &page_overview, head_of(report, serve_port(order->server)), NULL, out);
}
