/* SPDX-License-Identifier: Apache-2.0 */
/* From events to snapshots. A round ends when an event of a later time comes,
 * or the last one. What a round does not repeat has not changed. */

#include "base/memory.h"
#include "occupancy/occupancy.h"

#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sites */

/* The index of the guest's (number), OCCUPANCY_NONE if there is no room. */
static uint32_t site_index(struct occupancy *occupancy, uint32_t number)
{
    uint32_t found = index_find(&occupancy->site_numbers, number);
    char name[24];

    if (found != INDEX_NONE)
        return found;
    if (occupancy->site_numbers.count == OCCUPANCY_SITES_MAX) {
        occupancy_problem(occupancy, OCCUPANCY_NOT_KEPT, number);
        return OCCUPANCY_NONE;
    }
    found = index_add(&occupancy->site_numbers, number, NULL);
    vector_reserve_one(&occupancy->places, found, sizeof *occupancy->places);
    snprintf(name, sizeof name, "[site %u]", (unsigned)number);
    occupancy->places[found] = (struct occupancy_place){
        .number = number, .text = strings_put(&occupancy->strings, name)};
    return found;
}

/* The entry of the site in (snapshot), which has one from now on. */
static struct occupancy_site *entry_of(struct occupancy_snapshot *snapshot,
                                       uint32_t site)
{
    while (snapshot->site_count <= site) {
        VECTOR_ADD(snapshot->sites, snapshot->site_count,
                   (struct occupancy_site){0});
    }
    return &snapshot->sites[site];
}

/* The guest's kind after those of enum occupancy_part. */
#define KIND_FUTURES (OCCUPANCY_IDLE + 1)

/* Futures have no part in the account; but their name may be that of tasks. */
static void set_kind(struct occupancy_site *site, uint8_t kind)
{
    site->future = kind == KIND_FUTURES;
    site->kind = kind <= OCCUPANCY_IDLE ? kind
                 : site->future         ? OCCUPANCY_TASKS
                                        : OCCUPANCY_OTHERS;
}

static void take_place(struct occupancy *occupancy,
                       const struct event_loop_site *event)
{
    uint32_t site = site_index(occupancy, event->site);
    char *text, *mark;

    if (site == OCCUPANCY_NONE)
        return;
    if (event->site_kind > KIND_FUTURES)
        occupancy_problem(occupancy, OCCUPANCY_NO_KIND, event->site_kind);
    text = xstrdup(event->text);
    /* without a file there is no line, and any @ is the name's */
    mark = event->line != 0 ? strrchr(text, '@') : NULL;
    if (mark != NULL)
        *mark = '\0';
    occupancy->places[site] = (struct occupancy_place){
        .defined = true,
        .number = event->site,
        .text = strings_put(&occupancy->strings, text),
        .file = strings_put(&occupancy->strings, mark != NULL ? mark + 1 : ""),
        .line = event->line,
    };
    set_kind(entry_of(&occupancy->made, site), event->site_kind);
    free(text);
}

static void take_row(struct occupancy *occupancy,
                     const struct event_loop_row *event)
{
    uint32_t site = site_index(occupancy, event->site);
    struct occupancy_site *found;

    if (site == OCCUPANCY_NONE)
        return;
    found = entry_of(&occupancy->made, site);
    if (found->present && found->time == occupancy->time)
        occupancy_problem(occupancy, OCCUPANCY_TWICE, event->site);
    found->present = true;
    found->time = occupancy->time;
    found->row = *event;
}

static void take_call(struct occupancy *occupancy,
                      const struct event_loop_call *event)
{
    uint32_t site = site_index(occupancy, event->site);

    if (site != OCCUPANCY_NONE)
        entry_of(&occupancy->made, site)->call = *event;
}

static void take_bucket(struct occupancy *occupancy,
                        const struct event_loop_bucket *event)
{
    uint32_t site = site_index(occupancy, event->site);
    uint32_t bucket = occupancy_bucket(event->low), **buckets;

    if (event->measure >= OCCUPANCY_HISTOGRAMS ||
        occupancy_bucket_begin(bucket) != event->low) {
        occupancy_problem(occupancy, OCCUPANCY_NO_BUCKET, event->low);
        return;
    }
    if (site == OCCUPANCY_NONE)
        return;
    buckets = &entry_of(&occupancy->made, site)->buckets[event->measure];
    if (*buckets == NULL) {
        *buckets = xreallocarray(NULL, OCCUPANCY_BUCKETS, sizeof **buckets);
        memset(*buckets, 0, OCCUPANCY_BUCKETS * sizeof **buckets);
    }
    (*buckets)[bucket] = event->count;
}

static void take_node(struct occupancy *occupancy,
                      const struct event_loop_context *event)
{
    struct occupancy_snapshot *made = &occupancy->made;
    uint32_t site = site_index(occupancy, event->site), number;
    uint32_t parent = index_find(&occupancy->node_numbers, event->parent);

    if (site == OCCUPANCY_NONE)
        return;
    number = index_add(&occupancy->node_numbers, event->node, NULL);
    while (made->node_count <= number) {
        VECTOR_ADD(made->nodes, made->node_count,
                   (struct occupancy_node){.parent = OCCUPANCY_NONE});
    }
    if (parent == INDEX_NONE || parent >= number)
        parent = OCCUPANCY_NONE;
    made->nodes[number] =
        (struct occupancy_node){occupancy->time, *event, parent, site};
    made->nodes_time = occupancy->time;
}

/* ---- rounds */

/* When the guest began to count, by its account: the same for all rounds but
 * for rounding, until there is a reset. */
static uint64_t reset_of(const struct occupancy *occupancy, uint64_t wall)
{
    uint64_t hz = occupancy->tsc_hz, clocks;

    if (hz == 0)
        return 0;
    clocks = wall / hz * PROF_CLOCK_HZ + wall % hz * PROF_CLOCK_HZ / hz;
    return occupancy->time > clocks ? occupancy->time - clocks : 0;
}

#define SAME_RESET (PROF_CLOCK_HZ / 100u)

static bool is_reset(const struct occupancy *occupancy, uint64_t reset,
                     uint64_t wall)
{
    return wall < occupancy->made.account.wall ||
           (reset > occupancy->reset_time + SAME_RESET &&
            occupancy->rounds > 0);
}

/* Forgets what was counted before a reset, but not which sites there are. */
static void clear_counts(struct occupancy *occupancy)
{
    struct occupancy_snapshot *made = &occupancy->made;

    for (uint32_t i = 0; i < made->site_count; ++i) {
        struct occupancy_site *site = &made->sites[i];

        for (unsigned j = 0; j < OCCUPANCY_HISTOGRAMS; ++j)
            free(site->buckets[j]);
        *site =
            (struct occupancy_site){.kind = site->kind, .future = site->future};
    }
    made->node_count = 0;
    index_free(&occupancy->node_numbers);
    occupancy->turn_count = 0;
    occupancy_forget(&occupancy->before);
}

static void add_turn(struct occupancy *occupancy)
{
    const struct event_loop *account = &occupancy->made.account;

    if (occupancy->turn_count == OCCUPANCY_RECORDS_MAX) { /* the older half */
        occupancy->turn_count /= 2;
        memmove(occupancy->turns, occupancy->turns + occupancy->turn_count,
                occupancy->turn_count * sizeof *occupancy->turns);
    }
    VECTOR_ADD(occupancy->turns, occupancy->turn_count,
               (struct occupancy_turn){occupancy->made.time, account->wall,
                                       account->idle + account->stolen});
}

static void end_round(struct occupancy *occupancy)
{
    struct occupancy_snapshot *made = &occupancy->made;

    occupancy->is_making = false;
    occupancy->any = true;
    if (occupancy->to != 0 && made->time > occupancy->to)
        return;
    ++occupancy->rounds;
    add_turn(occupancy);
    occupancy_copy(made->time <= occupancy->from ? &occupancy->before
                                                 : &occupancy->now,
                   made);
}

static void begin_round(struct occupancy *occupancy,
                        const struct event_loop *event, uint16_t cpu)
{
    uint64_t reset = reset_of(occupancy, event->wall);

    if (occupancy->is_making)
        end_round(occupancy);
    if (is_reset(occupancy, reset, event->wall))
        clear_counts(occupancy);
    occupancy->reset_time = reset;
    occupancy->made.account = *event;
    occupancy->made.time = occupancy->time;
    occupancy->is_making = true;
    occupancy->unsure = false;
    if (occupancy->cpu != cpu)
        occupancy->incomplete = true;
    occupancy->cpu = cpu;
}

/* ---- long runs */

static bool has_room(struct occupancy *occupancy, void *vector, uint32_t count,
                     size_t bytes)
{
    if (count == OCCUPANCY_RECORDS_MAX) {
        occupancy_problem(occupancy, OCCUPANCY_NOT_KEPT, count);
        return false;
    }
    vector_reserve_one(vector, count, bytes);
    return true;
}

static bool is_inside(const struct occupancy *occupancy)
{
    return occupancy->time >= occupancy->from &&
           (occupancy->to == 0 || occupancy->time < occupancy->to);
}

static void take_run(struct occupancy *occupancy,
                     const struct event_loop_held *event)
{
    uint32_t site = site_index(occupancy, event->site);

    if (site != OCCUPANCY_NONE && is_inside(occupancy) &&
        has_room(occupancy, &occupancy->runs, occupancy->run_count,
                 sizeof *occupancy->runs))
        occupancy->runs[occupancy->run_count++] = (struct occupancy_run){
            .time = occupancy->time,
            .site = site,
            .task = event->task,
            .cycles = event->own,
            .samples = event->samples,
            .functions = {{event->function_1, event->samples_1},
                          {event->function_2, event->samples_2},
                          {event->function_3, event->samples_3}},
        };
}

static void take_freeze(struct occupancy *occupancy,
                        const struct event_loop_freeze *event)
{
    uint32_t site = site_index(occupancy, event->site);
    uint32_t outer = site_index(occupancy, event->outer);

    if (site != OCCUPANCY_NONE && outer != OCCUPANCY_NONE &&
        is_inside(occupancy) &&
        has_room(occupancy, &occupancy->freezes, occupancy->freeze_count,
                 sizeof *occupancy->freezes))
        occupancy->freezes[occupancy->freeze_count++] =
            (struct occupancy_freeze){
                .time = occupancy->time,
                .site = site,
                .outer = outer,
                .task = event->task,
                .cycles = event->held,
                .stack = {event->address_0, event->address_1, event->address_2,
                          event->address_3, event->address_4, event->address_5,
                          event->address_6, event->address_7},
            };
}

/* ---- events */

static void take_calls(struct occupancy_snapshot *made,
                       const struct event_loop_calls *event)
{
    made->has_calls = true;
    made->calls_refused = event->refused;
}

static void take_part_of(struct occupancy *occupancy, uint16_t cpu,
                         const struct event *event)
{
    if (!occupancy->is_making || occupancy->cpu != cpu) {
        if (!occupancy->unsure)
            occupancy_problem(occupancy, OCCUPANCY_STRAY, 0);
        return;
    }
    if (event->kind == PROF_EVENT_LOOP_ROW)
        take_row(occupancy, &event->as_loop_row);
    else if (event->kind == PROF_EVENT_LOOP_CONTEXT)
        take_node(occupancy, &event->as_loop_context);
    else if (event->kind == PROF_EVENT_LOOP_CALL)
        take_call(occupancy, &event->as_loop_call);
    else if (event->kind == PROF_EVENT_LOOP_CALLS)
        take_calls(&occupancy->made, &event->as_loop_calls);
    else
        take_bucket(occupancy, &event->as_loop_bucket);
}

static void take_event(struct occupancy *occupancy, uint16_t cpu,
                       const struct event *event)
{
    if (occupancy->is_making && occupancy->cpu == cpu &&
        event->time > occupancy->made.time)
        end_round(occupancy);
    occupancy->time = event->time;
    switch (event->kind) {
    case PROF_EVENT_HELLO:
        occupancy->tsc_hz = event->as_hello.tsc_hz;
        break;
    case PROF_EVENT_BYE:
        occupancy->ended = true;
        if (occupancy->is_making)
            end_round(occupancy);
        break;
    case PROF_EVENT_LOOP:
        begin_round(occupancy, &event->as_loop, cpu);
        break;
    case PROF_EVENT_LOOP_SITE:
        take_place(occupancy, &event->as_loop_site);
        break;
    case PROF_EVENT_LOOP_ROW:
    case PROF_EVENT_LOOP_CONTEXT:
    case PROF_EVENT_LOOP_BUCKET:
    case PROF_EVENT_LOOP_CALL:
    case PROF_EVENT_LOOP_CALLS:
        take_part_of(occupancy, cpu, event);
        break;
    case PROF_EVENT_LOOP_HELD:
        take_run(occupancy, &event->as_loop_held);
        break;
    case PROF_EVENT_LOOP_FREEZE:
        take_freeze(occupancy, &event->as_loop_freeze);
        break;
    default:
        break;
    }
}

/* Whether packets are missing before (packet). Rounds come on one CPU. */
static void take_head(struct occupancy *occupancy, const struct packet *packet)
{
    bool ours = !occupancy->order.begun || occupancy->cpu == packet->cpu;
    enum packet_follows follows =
        ours ? packet_follow(&occupancy->order, packet, NULL) : PACKET_NEXT;

    occupancy->time = packet->begin;
    if (follows == PACKET_FIRST) {
        occupancy->cpu = packet->cpu;
        occupancy->unsure = occupancy->incomplete = packet->sequence > 0;
    } else if (follows != PACKET_NEXT) {
        occupancy_problem(occupancy, OCCUPANCY_MISSED, 0);
        occupancy->is_making = false;
        occupancy->unsure = occupancy->incomplete = true;
    }
}

void occupancy_take(struct occupancy *occupancy, const struct packet *packet)
{
    struct event_reader reader;
    struct event event;

    if (packet->version != PROF_FORMAT_VERSION)
        return;
    take_head(occupancy, packet);
    event_begin(&reader, packet);
    while (event_next(&reader, &event))
        take_event(occupancy, packet->cpu, &event);
    if (occupancy->cpu == packet->cpu)
        occupancy->order.next = packet->sequence + 1;
}

void occupancy_finish(struct occupancy *occupancy)
{
    const struct occupancy_snapshot *before = &occupancy->before;

    /* of a guest that was killed the last round may be cut */
    if (occupancy->is_making && occupancy->rounds == 0 && !occupancy->ended)
        occupancy->incomplete = true;
    if (occupancy->is_making && (occupancy->rounds == 0 || occupancy->ended))
        end_round(occupancy);
    if (occupancy->now.time == 0)
        return;
    occupancy_check(occupancy);
    occupancy->time = occupancy->now.time;
    if (before->time != 0 && !occupancy_subtract(&occupancy->now, before))
        occupancy_problem(occupancy, OCCUPANCY_BACK, 0);
}
