/* SPDX-License-Identifier: Apache-2.0 */
/* Traces to be drawn. */

#include "timeline/timeline.h"

#include "base/memory.h"
#include "trace/event.h"

#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

/* Passes each packet on, and notes UTC, and where time was stolen. */
static void take(void *owner, const struct packet *packet)
{
    struct timeline_trace *trace = owner;
    struct event_reader reader;
    struct event event;

    tasks_take(&trace->tasks, packet);
    event_begin(&reader, packet);
    while (event_next(&reader, &event)) {
        uint64_t clocks = event.as_stolen.clocks;

        if (event.kind == PROF_EVENT_HELLO)
            trace->unix_seconds = event.as_hello.unix_seconds;
        if (event.kind != PROF_EVENT_STOLEN)
            continue;
        vector_reserve_one(&trace->stolen, trace->stolen_count,
                           sizeof *trace->stolen);
        trace->stolen[trace->stolen_count++] = (struct timeline_stolen){
            .from = event.time > clocks ? event.time - clocks : 0,
            .to = event.time,
        };
    }
}

bool timeline_add(struct timeline *timeline, const char *path, const char *name)
{
    struct timeline_trace *trace;
    struct trace file = {0};
    struct packet_sink sink;

    timeline->traces = xreallocarray(timeline->traces, timeline->count + 1,
                                     sizeof *timeline->traces);
    trace = &timeline->traces[timeline->count++];
    *trace = (struct timeline_trace){.name = name};
    sink = (struct packet_sink){take, trace};
    trace_open(&file, path);
    trace_each(&file, &sink);
    tasks_finish(&trace->tasks);
    trace_close(&file);
    return trace->tasks.events > 0;
}

#define SECONDS_MAX (UINT32_MAX * (uint64_t)4) /* so that clocks fit */

/* Whether all traces have a time of day. */
static bool have_utc(const struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; ++i) {
        uint64_t seconds = timeline->traces[i].unix_seconds;

        if (seconds == 0 || seconds > SECONDS_MAX)
            return false;
    }
    return timeline->count > 1;
}

/* Sets each trace's shift, the least of which is 0. */
static void align(struct timeline *timeline)
{
    int64_t least = INT64_MAX;

    timeline->aligned = have_utc(timeline);
    for (size_t i = 0; i < timeline->count; ++i) {
        struct timeline_trace *trace = &timeline->traces[i];

        trace->shift = trace->moved;
        if (timeline->aligned)
            trace->shift += (int64_t)(trace->unix_seconds * PROF_CLOCK_HZ);
        if (trace->shift < least)
            least = trace->shift;
    }
    for (size_t i = 0; i < timeline->count; ++i)
        timeline->traces[i].shift -= least;
}

void timeline_finish(struct timeline *timeline)
{
    align(timeline);
    timeline->begin = UINT64_MAX;
    for (size_t i = 0; i < timeline->count; ++i) {
        const struct timeline_trace *trace = &timeline->traces[i];
        uint64_t begin = trace->tasks.begin + (uint64_t)trace->shift;
        uint64_t end = trace->tasks.end + (uint64_t)trace->shift;

        if (begin < timeline->begin)
            timeline->begin = begin;
        if (end > timeline->end)
            timeline->end = end;
    }
}

void timeline_free(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; ++i) {
        tasks_free(&timeline->traces[i].tasks);
        free(timeline->traces[i].stolen);
    }
    free(timeline->traces);
    memset(timeline, 0, sizeof *timeline);
}
