/* SPDX-License-Identifier: Apache-2.0 */
/* Traces to be drawn. */

#include "timeline/timeline.h"

#include "base/checked.h"
#include "base/memory.h"
#include "timeline/clocks.h"

#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

static void read_tasks(struct tasks *tasks, const char *path)
{
    struct trace file;

    trace_open(&file, path);
    tasks_read(tasks, &file);
    trace_close(&file);
}

/* The same with the samples; each packet is decoded once for both. */
static struct view *read_view(struct tasks *tasks, const char *path)
{
    struct view *view = xreallocarray(NULL, 1, sizeof *view);

    *view = (struct view){.input = path, .weight = MODEL_CLOCKS};
    view_read(view, true);
    *tasks = *view->tasks;
    free(view->tasks);
    view->tasks = NULL;
    return view;
}

bool timeline_add(struct timeline *timeline, const char *path, const char *name)
{
    struct timeline_trace *trace;

    timeline->traces = xreallocarray(timeline->traces, timeline->count + 1,
                                     sizeof *timeline->traces);
    trace = &timeline->traces[timeline->count++];
    *trace = (struct timeline_trace){.name = name};
    if (timeline->has_views)
        trace->view = read_view(&trace->tasks, path);
    else
        read_tasks(&trace->tasks, path);
    return trace->tasks.events > 0;
}

/* Packets from trace (from) to trace (to). */
static void add_packets(struct timeline *timeline, size_t from, size_t to)
{
    size_t count;
    struct match_pair *pairs = match_messages(
        &timeline->traces[from].tasks, &timeline->traces[to].tasks, &count);

    for (size_t i = 0; i < count; ++i) {
        vector_reserve_one(&timeline->packets, timeline->packet_count,
                           sizeof *timeline->packets);
        timeline->packets[timeline->packet_count++] = (struct timeline_packet){
            from, to, pairs[i].sent, pairs[i].received};
    }
    free(pairs);
}

/* Whether the clock of trace (number) is known well enough. */
static bool is_exact(const struct timeline *timeline, size_t number)
{
    return number == 0 || timeline->traces[number].how == TIMELINE_PACKETS;
}

static void find_packets(struct timeline *timeline)
{
    for (size_t from = 0; from < timeline->count; ++from)
        for (size_t to = 0; to < timeline->count; ++to)
            if (from != to && is_exact(timeline, from) &&
                is_exact(timeline, to))
                add_packets(timeline, from, to);
}

/* The beginning of (trace) by the clock of all. */
static uint64_t begin_of(const struct timeline_trace *trace)
{
    return trace->tasks.begin + (uint64_t)trace->shift;
}

/* When the first trace begins, and the last one ends. Times by the clock of all
 * may be before 0, modulo 2^64, and a damaged trace may last for any time: of
 * two beginnings the difference says which is the first. */
static void find_times(struct timeline *timeline)
{
    uint64_t longest = 0;

    timeline->begin = timeline->count > 0 ? begin_of(&timeline->traces[0]) : 0;
    for (size_t i = 1; i < timeline->count; ++i) {
        uint64_t begin = begin_of(&timeline->traces[i]);

        if ((int64_t)(begin - timeline->begin) < 0)
            timeline->begin = begin;
    }
    for (size_t i = 0; i < timeline->count; ++i) {
        const struct timeline_trace *trace = &timeline->traces[i];
        uint64_t later = begin_of(trace) - timeline->begin;
        uint64_t length = checked_sub(trace->tasks.end, trace->tasks.begin);

        length = checked_add(later, length);
        if (length > longest)
            longest = length;
    }
    timeline->end = timeline->begin + longest;
}

void timeline_finish(struct timeline *timeline)
{
    clocks_align(timeline);
    find_packets(timeline);
    find_times(timeline);
    for (size_t i = 0; i < timeline->count; ++i)
        parts_find(&timeline->traces[i].parts, &timeline->traces[i].tasks);
}

void timeline_free(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; ++i) {
        tasks_free(&timeline->traces[i].tasks);
        parts_free(&timeline->traces[i].parts);
        if (timeline->traces[i].view != NULL)
            view_close(timeline->traces[i].view);
        free(timeline->traces[i].view);
    }
    free(timeline->traces);
    free(timeline->packets);
    waits_free(&timeline->waits);
    memset(timeline, 0, sizeof *timeline);
}
