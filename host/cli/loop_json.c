/* SPDX-License-Identifier: Apache-2.0 */
/* Loop occupancy as JSON. Cycles are exact; ns are rounded. */

#include "base/json_text.h"
#include "cli/loop_print.h"

#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *ns(const struct loop_print *print, uint64_t cycles)
{
    double value = (double)cycles * 1e9 / (double)print->occupancy.tsc_hz + 0.5;

    return json_integer(value < 9e18 ? (json_int_t)value : INT64_MAX);
}

static void set_name(const struct loop_print *print, json_t *object,
                     uint32_t site)
{
    const struct occupancy *occupancy = &print->occupancy;

    json_set(object, "site", json_text(occupancy_name(occupancy, site)));
    json_set(object, "file", json_text(occupancy_file(occupancy, site)));
    json_set(object, "line", json_count(occupancy_line(occupancy, site)));
}

/* ---- sites */

static json_t *histogram_json(const struct loop_print *print,
                              const struct occupancy_site *site,
                              enum occupancy_histogram which)
{
    const struct event_loop_row *row = &site->row;
    const uint64_t quantiles[OCCUPANCY_HISTOGRAMS][4] = {
        {row->runs, row->run_p50, row->run_p90, row->run_p99},
        {row->delays, row->delay_p50, row->delay_p90, row->delay_p99},
        {row->walls, row->wall_p50, row->wall_p90, row->wall_p99},
    };
    const uint32_t *buckets = site->buckets[which];
    json_t *object = json_object(), *all = json_array();

    json_set(object, "count", json_count(quantiles[which][0]));
    json_set(object, "p50_ns", ns(print, quantiles[which][1]));
    json_set(object, "p90_ns", ns(print, quantiles[which][2]));
    json_set(object, "p99_ns", ns(print, quantiles[which][3]));
    for (uint32_t i = 0; buckets != NULL && i < OCCUPANCY_BUCKETS; ++i) {
        json_t *bucket;

        if (buckets[i] == 0)
            continue;
        bucket = json_array();
        json_array_append_new(bucket, json_count(occupancy_bucket_begin(i)));
        json_array_append_new(bucket, json_count(buckets[i]));
        json_array_append_new(all, bucket);
    }
    json_set(object, "ranges", all);
    return object;
}

/* Numbers of counts by their names. */
static void set_counts(json_t *object, const struct event_loop_row *row)
{
    json_set(object, "calls", json_count(row->calls));
    json_set(object, "pending", json_count(row->pending));
    json_set(object, "resolved", json_count(row->resolved));
    json_set(object, "failed", json_count(row->failed));
    json_set(object, "cancelled", json_count(row->cancelled));
    json_set(object, "runs", json_count(row->runs));
    json_set(object, "own_cycles", json_count(row->own));
    json_set(object, "total_cycles", json_count(row->total));
    json_set(object, "longest_task", json_count(row->longest_task));
    json_set(object, "longest_tsc", json_count(row->longest_begin));
    json_set(object, "held", json_count(row->held));
}

static json_t *site_json(const struct loop_print *print, uint32_t number)
{
    const struct occupancy_site *site = &print->occupancy.now.sites[number];
    const struct event_loop_row *row = &site->row;
    json_t *object = json_object();

    set_name(print, object, number);
    json_set(object, "number", json_count(row->site));
    json_set(object, "kind", json_text(loop_part_keys[site->kind]));
    set_counts(object, row);
    json_set(object, "own_ns", ns(print, row->own));
    json_set(object, "total_ns", ns(print, row->total));
    json_set(object, "oldest_ns", ns(print, row->oldest));
    json_set(object, "longest_ns", ns(print, row->longest));
    json_set(object, "delay_ns", ns(print, row->delay));
    json_set(object, "wall_ns", ns(print, row->wall));
    json_set(object, "held_ns", ns(print, row->held_time));
    for (unsigned i = 0; i < OCCUPANCY_HISTOGRAMS; ++i)
        json_set(object, loop_histograms[i],
                 histogram_json(print, site, (enum occupancy_histogram)i));
    return object;
}

static json_t *sites_json(const struct loop_print *print)
{
    uint32_t count;
    uint32_t *sites = occupancy_sorted(&print->occupancy, &print->occupancy.now,
                                       print->order, &count);
    json_t *all = json_array();

    for (uint32_t i = 0; i < count; ++i)
        json_array_append_new(all, site_json(print, sites[i]));
    free(sites);
    return all;
}

/* Parents come before their children, which name them by "node". */
static json_t *nodes_json(const struct loop_print *print)
{
    const struct occupancy_snapshot *now = &print->occupancy.now;
    json_t *all = json_array();

    for (uint32_t i = 0; i < now->node_count; ++i) {
        const struct occupancy_node *node = &now->nodes[i];
        json_t *object;

        if (node->time == 0)
            continue;
        object = json_object();
        json_set(object, "node", json_count(node->counts.node));
        json_set(object, "parent", json_count(node->counts.parent));
        set_name(print, object, node->site);
        json_set(object, "calls", json_count(node->counts.calls));
        json_set(object, "own_cycles", json_count(node->counts.own));
        json_set(object, "total_cycles", json_count(node->counts.total));
        json_array_append_new(all, object);
    }
    return all;
}

/* ---- long runs and freezes */

/* Since the first packet. */
static json_t *at_ns(const struct loop_print *print, uint64_t time)
{
    uint64_t begin = print->view.model.begin;

    return json_count((time > begin ? time - begin : 0) *
                      (1000000000u / PROF_CLOCK_HZ));
}

static json_t *runs_json(struct loop_print *print)
{
    const struct occupancy *occupancy = &print->occupancy;
    uint32_t *runs = loop_longest_runs(print);
    json_t *all = json_array();

    for (uint32_t i = 0; i < occupancy->run_count; ++i) {
        const struct occupancy_run *run = &occupancy->runs[runs[i]];
        json_t *object = json_object(), *functions = json_array();

        set_name(print, object, run->site);
        json_set(object, "task", json_count(run->task));
        json_set(object, "at_ns", at_ns(print, run->time));
        json_set(object, "ns", ns(print, run->cycles));
        json_set(object, "samples", json_count(run->samples));
        for (unsigned j = 0;
             j < OCCUPANCY_FUNCTIONS && run->functions[j].address != 0; ++j) {
            json_t *function = json_object();

            json_set(
                function, "function",
                json_text(loop_function(print, run->functions[j].address)));
            json_set(function, "samples",
                     json_count(run->functions[j].samples));
            json_array_append_new(functions, function);
        }
        json_set(object, "functions", functions);
        json_array_append_new(all, object);
    }
    free(runs);
    return all;
}

static json_t *freezes_json(struct loop_print *print)
{
    const struct occupancy *occupancy = &print->occupancy;
    json_t *all = json_array();

    for (uint32_t i = 0; i < occupancy->freeze_count; ++i) {
        const struct occupancy_freeze *freeze = &occupancy->freezes[i];
        const char *functions[OCCUPANCY_STACK];
        size_t count = loop_stack(print, freeze, functions);
        json_t *object = json_object(), *stack = json_array();

        set_name(print, object, freeze->site);
        json_set(object, "task", json_count(freeze->task));
        json_set(object, "at_ns", at_ns(print, freeze->time));
        json_set(object, "ns", ns(print, freeze->cycles));
        for (size_t j = 0; j < count; ++j)
            json_array_append_new(stack, json_text(functions[j]));
        json_set(object, "stack", stack);
        json_array_append_new(all, object);
    }
    return all;
}

/* ---- all */

static json_t *account_json(const struct loop_print *print)
{
    const struct occupancy_snapshot *now = &print->occupancy.now;
    uint64_t parts[OCCUPANCY_PARTS];
    json_t *object = json_object();

    occupancy_account(now, parts);
    for (unsigned i = 0; i < OCCUPANCY_PARTS; ++i)
        json_set(object, loop_part_keys[i], json_count(parts[i]));
    json_set(object, "of_all_stolen", json_count(now->account.stolen_inside));
    json_set(object, "of_all_statistics", json_count(now->account.own));
    return object;
}

static json_t *busy_json(const struct occupancy *occupancy)
{
    static const struct {
        const char *key;
        double seconds;
    } spans[] = {{"1s", 1}, {"10s", 10}, {"60s", 60}};
    uint64_t parts[OCCUPANCY_PARTS];
    json_t *object = json_object();

    occupancy_account(&occupancy->now, parts);
    json_set(object, "all",
             json_real(
                 occupancy_busy(parts[OCCUPANCY_WALL], parts[OCCUPANCY_IDLE])));
    for (size_t i = 0; i < sizeof spans / sizeof *spans; ++i) {
        double busy = occupancy_lately(occupancy, spans[i].seconds);

        json_set(object, spans[i].key,
                 busy < 0 ? json_null() : json_real(busy));
    }
    return object;
}

void loop_print_json(struct loop_print *print)
{
    const struct occupancy *occupancy = &print->occupancy;
    const struct event_loop *account = &occupancy->now.account;
    json_t *all = json_object();

    json_set(all, "tsc_hz", json_count(occupancy->tsc_hz));
    json_set(all, "rounds", json_count(occupancy->rounds));
    json_set(all, "sites_refused", json_count(account->sites_refused));
    json_set(all, "contexts_refused", json_count(account->contexts_refused));
    json_set(all, "unbinned", json_count(account->unbinned));
    json_set(all, "busy", busy_json(occupancy));
    json_set(all, "cycles", account_json(print));
    json_set(all, "freeze_count", json_count(account->freezes));
    json_set(all, "sites", sites_json(print));
    json_set(all, "tree", nodes_json(print));
    json_set(all, "long_runs", runs_json(print));
    json_set(all, "freezes", freezes_json(print));
    json_print(all, stdout);
}
