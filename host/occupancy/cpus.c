/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of several CPUs: each counted by itself, and their sum. Sites have
 * the same numbers on all of them; contexts are the same where the sites above
 * them are. */

#include "base/memory.h"
#include "occupancy/occupancy.h"

#include <stdlib.h>

static struct occupancy *occupancy_of(struct occupancy_cpus *cpus, uint16_t cpu)
{
    struct occupancy_cpu fresh = {
        .cpu = cpu, .occupancy = {.from = cpus->from, .to = cpus->to}};
    uint32_t number =
        index_add_row(&cpus->numbers, cpu, &cpus->all, &fresh, sizeof fresh);

    return &cpus->all[number].occupancy;
}

void occupancy_cpus_take(struct occupancy_cpus *cpus,
                         const struct packet *packet)
{
    struct occupancy *occupancy = occupancy_of(cpus, packet->cpu);

    occupancy_take(occupancy, packet);
    cpus->ended = cpus->ended || occupancy->ended;
}

static int by_cpu(const void *left, const void *right)
{
    const struct occupancy_cpu *a = left, *b = right;

    return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

void occupancy_cpus_finish(struct occupancy_cpus *cpus)
{
    uint32_t count = cpus->numbers.count;

    for (uint32_t i = 0; i < count; ++i) {
        struct occupancy_cpu *each = &cpus->all[i];

        cpus->any =
            cpus->any || each->occupancy.any || each->occupancy.is_making;
        if (cpus->tsc_hz == 0)
            cpus->tsc_hz = each->occupancy.tsc_hz;
        each->occupancy.ended = cpus->ended; /* one CPU says so for all */
        occupancy_finish(&each->occupancy);
    }
    if (count > 0)
        qsort(cpus->all, count, sizeof *cpus->all, by_cpu);
    for (uint32_t i = 0; i < count; ++i) {
        struct occupancy_cpu *each = &cpus->all[i];

        if (each->occupancy.now.time != 0)
            cpus->all[cpus->count++] = *each;
        else
            occupancy_free(&each->occupancy);
    }
}

bool occupancy_cpus_only(struct occupancy_cpus *cpus, uint16_t cpu)
{
    uint32_t count = cpus->count;

    cpus->count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        struct occupancy_cpu *each = &cpus->all[i];

        if (each->cpu == cpu)
            cpus->all[cpus->count++] = *each;
        else
            occupancy_free(&each->occupancy);
    }
    return cpus->count > 0;
}

void occupancy_cpus_free(struct occupancy_cpus *cpus)
{
    for (uint32_t i = 0; i < cpus->count; ++i)
        occupancy_free(&cpus->all[i].occupancy);
    free(cpus->all);
    index_free(&cpus->numbers);
    *cpus = (struct occupancy_cpus){0};
}

/* ---- the sum */

static void add_account(struct event_loop *sum, const struct event_loop *one)
{
    sum->wall += one->wall;
    sum->tasks += one->tasks;
    sum->callbacks += one->callbacks;
    sum->others += one->others;
    sum->itself += one->itself;
    sum->profiler += one->profiler;
    sum->idle += one->idle;
    sum->interrupts += one->interrupts;
    sum->sampler += one->sampler;
    sum->stolen += one->stolen;
    sum->stolen_inside += one->stolen_inside;
    sum->own += one->own;
    sum->sites = sum->sites > one->sites ? sum->sites : one->sites;
    sum->sites_refused += one->sites_refused;
    sum->contexts_refused += one->contexts_refused;
    sum->unbinned += one->unbinned;
    sum->freezes += one->freezes;
}

static void add_row(struct event_loop_row *sum,
                    const struct event_loop_row *one)
{
    sum->calls += one->calls;
    sum->resolved += one->resolved;
    sum->failed += one->failed;
    sum->cancelled += one->cancelled;
    sum->pending += one->pending;
    if (one->oldest > sum->oldest)
        sum->oldest = one->oldest;
    sum->own += one->own;
    sum->total += one->total;
    if (one->longest > sum->longest) {
        sum->longest = one->longest;
        sum->longest_begin = one->longest_begin;
        sum->longest_task = one->longest_task;
    }
    sum->runs += one->runs;
    sum->delays += one->delays;
    sum->delay += one->delay;
    sum->walls += one->walls;
    sum->wall += one->wall;
    sum->held += one->held;
    sum->held_time += one->held_time;
}

static void add_call(struct event_loop_call *sum,
                     const struct event_loop_call *one)
{
    sum->calls += one->calls;
    sum->time += one->time;
    if (one->longest > sum->longest) {
        sum->longest = one->longest;
        sum->longest_end = one->longest_end;
        sum->longest_task = one->longest_task;
    }
}

static void add_buckets(uint32_t **sum, const uint32_t *one)
{
    if (one == NULL)
        return;
    if (*sum == NULL) {
        *sum = xreallocarray(NULL, OCCUPANCY_BUCKETS, sizeof **sum);
        for (uint32_t i = 0; i < OCCUPANCY_BUCKETS; ++i)
            (*sum)[i] = 0;
    }
    for (uint32_t i = 0; i < OCCUPANCY_BUCKETS; ++i)
        (*sum)[i] += one[i];
}

/* The sum's index of site (number) of (one). */
static uint32_t add_place(struct occupancy *sum, const struct occupancy *one,
                          uint32_t number)
{
    const struct occupancy_place *from = &one->places[number];
    bool is_new;
    uint32_t site = index_add(&sum->site_numbers, from->number, &is_new);

    if (is_new)
        vector_reserve_one(&sum->places, site, sizeof *sum->places);
    if (is_new || (from->defined && !sum->places[site].defined))
        sum->places[site] = (struct occupancy_place){
            .defined = from->defined,
            .number = from->number,
            .text = strings_put(&sum->strings,
                                strings_text(&one->strings, from->text)),
            .file = strings_put(&sum->strings,
                                strings_text(&one->strings, from->file)),
            .line = from->line,
        };
    while (sum->now.site_count <= site) {
        VECTOR_ADD(sum->now.sites, sum->now.site_count,
                   (struct occupancy_site){0});
    }
    return site;
}

static void add_site(struct occupancy *sum, const struct occupancy *one,
                     uint32_t number)
{
    const struct occupancy_site *from = &one->now.sites[number];
    uint32_t site = add_place(sum, one, number); /* which may move them */
    struct occupancy_site *to = &sum->now.sites[site];

    if (!from->present)
        return;
    if (!to->present) {
        to->kind = from->kind;
        to->future = from->future;
        to->row.site = from->row.site;
        to->call.site = from->call.site;
    }
    to->present = true;
    to->time = from->time > to->time ? from->time : to->time;
    add_row(&to->row, &from->row);
    add_call(&to->call, &from->call);
    for (unsigned i = 0; i < OCCUPANCY_HISTOGRAMS; ++i)
        add_buckets(&to->buckets[i], from->buckets[i]);
}

/* Parents come before their children. */
static void add_nodes(struct occupancy *sum, const struct occupancy *one)
{
    const struct occupancy_snapshot *from = &one->now;
    struct occupancy_snapshot *to = &sum->now;
    uint32_t *numbers =
        xreallocarray(NULL, from->node_count + 1u, sizeof *numbers);

    for (uint32_t i = 0; i < from->node_count; ++i) {
        const struct occupancy_node *node = &from->nodes[i];
        uint32_t parent = node->parent == OCCUPANCY_NONE
                              ? OCCUPANCY_NONE
                              : numbers[node->parent];
        uint32_t site =
            node->time != 0 ? add_place(sum, one, node->site) : OCCUPANCY_NONE;
        bool is_new;

        numbers[i] =
            index_add(&sum->node_numbers, index_pair(parent, site), &is_new);
        if (is_new)
            VECTOR_ADD(to->nodes, to->node_count,
                       (struct occupancy_node){
                           .time = node->time,
                           .counts = {.recursive = node->counts.recursive},
                           .parent = parent,
                           .site = site});
        to->nodes[numbers[i]].counts.calls += node->counts.calls;
        to->nodes[numbers[i]].counts.own += node->counts.own;
        to->nodes[numbers[i]].counts.total += node->counts.total;
    }
    free(numbers);
}

static void add_long(struct occupancy *sum, const struct occupancy *one)
{
    for (uint32_t i = 0; i < one->run_count; ++i) {
        VECTOR_ADD(sum->runs, sum->run_count, one->runs[i]);
        sum->runs[sum->run_count - 1].site =
            add_place(sum, one, one->runs[i].site);
    }
    for (uint32_t i = 0; i < one->freeze_count; ++i) {
        struct occupancy_freeze freeze = one->freezes[i];

        freeze.site = add_place(sum, one, freeze.site);
        freeze.outer = add_place(sum, one, freeze.outer);
        VECTOR_ADD(sum->freezes, sum->freeze_count, freeze);
    }
}

void occupancy_cpus_sum(const struct occupancy_cpus *cpus,
                        struct occupancy *sum)
{
    *sum = (struct occupancy){.from = cpus->from,
                              .to = cpus->to,
                              .tsc_hz = cpus->tsc_hz,
                              .any = cpus->any};
    for (uint32_t i = 0; i < cpus->count; ++i) {
        const struct occupancy *one = &cpus->all[i].occupancy;

        sum->rounds += one->rounds;
        if (one->now.time > sum->now.time)
            sum->now.time = one->now.time;
        sum->now.has_calls = sum->now.has_calls || one->now.has_calls;
        sum->now.calls_refused += one->now.calls_refused;
        add_account(&sum->now.account, &one->now.account);
        for (uint32_t n = 0; n < one->now.site_count; ++n)
            add_site(sum, one, n);
        add_nodes(sum, one);
        add_long(sum, one);
    }
    occupancy_set_quantiles(&sum->now);
}
