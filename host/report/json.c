/* SPDX-License-Identifier: Apache-2.0 */
/* The same tables as JSON, one object at a time. */

#include "base/checked.h"
#include "base/json.h"
#include "report/report.h"

#include <stdlib.h>

/* At most what json_count() can tell. */
static unsigned long long ns_of(uint64_t clocks)
{
    uint64_t ns = checked_mul(clocks, MODEL_NS_PER_CLOCK);

    return ns < INT64_MAX ? ns : INT64_MAX;
}

static void set_keys(json_t *object, const struct report *report,
                     uint32_t number)
{
    const struct report_row *row = &report->rows[number];
    const struct names *names = &report->view.names;

    if ((report->keys & REPORT_SYMBOL) != 0)
        json_set(object, "symbol",
                 json_text(names_text(names, row->frame.function)));
    if ((report->keys & REPORT_LINE) != 0)
        json_set(object, "line", json_text(names_text(names, row->frame.line)));
    if ((report->keys & REPORT_TASK) != 0)
        json_set(object, "task", json_text(names_text(names, row->task)));
    if ((report->keys & REPORT_CPU) != 0)
        json_set(object, "cpu", json_count(row->cpu));
}

static void set_counts(json_t *object, const struct report *report,
                       const struct model_count *self,
                       const struct model_count *total)
{
    json_set(object, "self", json_count(self->samples));
    json_set(object, "total", json_count(total->samples));
    json_set(object, "self_ns", json_count(ns_of(self->clocks)));
    json_set(object, "total_ns", json_count(ns_of(total->clocks)));
    json_set(object, "self_percent", json_real(report_percent(report, self)));
    json_set(object, "total_percent", json_real(report_percent(report, total)));
}

static json_t *calls_of(const struct report *report, uint32_t row, bool callers)
{
    json_t *list = json_array();
    size_t count;
    uint32_t *edges = report_calls(report, row, callers, &count);

    for (size_t i = 0; i < count; ++i) {
        const struct report_edge *edge = &report->edges[edges[i]];
        json_t *call = json_object();

        set_keys(call, report, callers ? edge->caller : edge->callee);
        json_set(call, "samples", json_count(edge->count.samples));
        json_set(call, "ns", json_count(ns_of(edge->count.clocks)));
        json_array_append_new(list, call);
    }
    free(edges);
    return list;
}

static json_t *children_of(const struct report *report, uint32_t parent)
{
    json_t *list = json_array();
    size_t count;
    uint32_t *branches = report_children(report, parent, &count);

    for (size_t i = 0; i < count; ++i) {
        const struct report_branch *branch = &report->branches[branches[i]];
        json_t *child = json_object();

        set_keys(child, report, branch->row);
        set_counts(child, report, &branch->self, &branch->total);
        json_set(child, "children", children_of(report, branches[i]));
        json_array_append_new(list, child);
    }
    free(branches);
    return list;
}

static void print_list(const char *name, json_t *list)
{
    json_t *one;
    size_t i;

    printf(",\n\"%s\": [", name);
    json_array_foreach(list, i, one)
    {
        fputs(i > 0 ? ",\n  " : "\n  ", stdout);
        json_dumpf(one, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
    }
    fputs("\n]", stdout);
    json_decref(list);
}

static void print_value(const char *name, json_t *value)
{
    printf(",\n\"%s\": ", name);
    json_dumpf(value, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(value);
}

static json_t *row_object(const struct report *report, uint32_t number)
{
    const struct report_row *row = &report->rows[number];
    json_t *object = json_object();
    struct interval interval;

    set_keys(object, report, number);
    set_counts(object, report, &row->self, &row->total);
    if (report_has_intervals(report)) {
        (void)report_interval(report, &row->self, &interval);
        json_set(object, "self_percent_low", json_real(interval.low));
        json_set(object, "self_percent_high", json_real(interval.high));
    }
    if (report->has_exits)
        json_set(object, "hypervisor", json_count(row->exits.samples));
    if (report->callers)
        json_set(object, "callers", calls_of(report, number, true));
    if (report->callees)
        json_set(object, "callees", calls_of(report, number, false));
    return object;
}

void report_print_json(const struct report *report)
{
    size_t count;
    uint32_t *rows = report_rows(report, &count);
    json_t *list = json_array();

    for (size_t i = 0; i < count; ++i)
        json_array_append_new(list, row_object(report, rows[i]));
    free(rows);
    printf("{\"weight\": \"%s\",\n\"samples\": %llu,\n\"ns\": %llu,\n"
           "\"lost\": %llu,\n\"stolen_ns\": %llu,\n\"stolen_by\": \"%s\",\n"
           "\"profiler\": {\"samples\": %llu, \"ns\": %llu}",
           view_weight_name(&report->view),
           (unsigned long long)report->sum.samples, ns_of(report->sum.clocks),
           (unsigned long long)model_lost(&report->view.model),
           ns_of(report->view.model.stolen_clocks),
           report->view.model.steal_clock ? "hypervisor" : "inference",
           (unsigned long long)report->own.samples, ns_of(report->own.clocks));
    print_value("cpus", report_cpus_json(&report->view.model));
    if (report->view.weighed != NULL)
        print_value("weights", report_weights_json(&report->view));
    if (report->view.irqs_off)
        print_list("stretches",
                   report_stretches_json(&report->view, report->view.weighed));
    print_list("rows", list);
    if (report->tree)
        print_list("tree", children_of(report, REPORT_NONE));
    puts("\n}");
}
