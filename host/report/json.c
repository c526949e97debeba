/* SPDX-License-Identifier: Apache-2.0 */
/* The same tables as JSON, one object at a time. */

#include "base/json_text.h"
#include "report/report.h"

#include <prof/format.h>
#include <stdlib.h>

#define NS_PER_CLOCK (1000000000u / PROF_CLOCK_HZ)

static void set_count(json_t *object, const char *name, uint64_t count)
{
    json_set(object, name, json_integer((json_int_t)count));
}

static void set_text(json_t *object, const char *name, const char *text)
{
    json_set(object, name, json_text(text));
}

static void set_keys(json_t *object, const struct report *report,
                     uint32_t number)
{
    const struct report_row *row = &report->rows[number];
    const struct names *names = &report->view.names;

    if ((report->keys & REPORT_SYMBOL) != 0)
        set_text(object, "symbol", names_text(names, row->frame.function));
    if ((report->keys & REPORT_LINE) != 0)
        set_text(object, "line", names_text(names, row->frame.line));
    if ((report->keys & REPORT_TASK) != 0)
        set_text(object, "task", names_text(names, row->task));
    if ((report->keys & REPORT_CPU) != 0)
        set_count(object, "cpu", row->cpu);
}

static void set_counts(json_t *object, const struct report *report,
                       const struct model_count *self,
                       const struct model_count *total)
{
    set_count(object, "self", self->samples);
    set_count(object, "total", total->samples);
    set_count(object, "self_ns", self->clocks * NS_PER_CLOCK);
    set_count(object, "total_ns", total->clocks * NS_PER_CLOCK);
    json_set(object, "self_percent", json_real(report_percent(report, self)));
    json_set(object, "total_percent", json_real(report_percent(report, total)));
}

static json_t *calls(const struct report *report, uint32_t row, bool callers)
{
    json_t *list = json_array();
    size_t count;
    uint32_t *edges = report_calls(report, row, callers, &count);

    for (size_t i = 0; i < count; ++i) {
        const struct report_edge *edge = &report->edges[edges[i]];
        json_t *call = json_object();

        set_keys(call, report, callers ? edge->caller : edge->callee);
        set_count(call, "samples", edge->count.samples);
        set_count(call, "ns", edge->count.clocks * NS_PER_CLOCK);
        json_array_append_new(list, call);
    }
    free(edges);
    return list;
}

static json_t *children(const struct report *report, uint32_t parent)
{
    json_t *list = json_array();
    size_t count;
    uint32_t *branches = report_children(report, parent, &count);

    for (size_t i = 0; i < count; ++i) {
        const struct report_branch *branch = &report->branches[branches[i]];
        json_t *child = json_object();

        set_keys(child, report, branch->row);
        set_counts(child, report, &branch->self, &branch->total);
        json_set(child, "children", children(report, branches[i]));
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

static json_t *row_object(const struct report *report, uint32_t number)
{
    const struct report_row *row = &report->rows[number];
    json_t *object = json_object();
    struct interval interval;

    set_keys(object, report, number);
    set_counts(object, report, &row->self, &row->total);
    (void)report_interval(report, &row->self, &interval);
    json_set(object, "self_percent_low", json_real(interval.low));
    json_set(object, "self_percent_high", json_real(interval.high));
    if (report->has_exits)
        set_count(object, "hypervisor", row->exits.samples);
    if (report->callers)
        json_set(object, "callers", calls(report, number, true));
    if (report->callees)
        json_set(object, "callees", calls(report, number, false));
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
    printf(
        "{\"weight\": \"%s\",\n\"samples\": %llu,\n\"ns\": %llu,\n"
        "\"lost\": %llu,\n\"stolen_ns\": %llu,\n"
        "\"profiler\": {\"samples\": %llu, \"ns\": %llu}",
        view_weight_name(&report->view),
        (unsigned long long)report->sum.samples,
        (unsigned long long)(report->sum.clocks * NS_PER_CLOCK),
        (unsigned long long)model_lost(&report->view.model),
        (unsigned long long)(report->view.model.stolen_clocks * NS_PER_CLOCK),
        (unsigned long long)report->own.samples,
        (unsigned long long)(report->own.clocks * NS_PER_CLOCK));
    print_list("rows", list);
    if (report->tree)
        print_list("tree", children(report, REPORT_NONE));
    puts("\n}");
}
