/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces are aligned with the first one, or with one that is already aligned.
 * Of several that are possible the one with the least error comes first, since
 * errors add up.
 */

#include "timeline/clocks.h"

#include "base/checked.h"
#include "base/memory.h"
#include "timeline/match.h"

#include <math.h>
#include <prof/format.h>
#include <stdlib.h>

/* ---- another rate */

struct rate {
    uint64_t begin;
    double rate;
};

static void change(const struct rate *rate, uint64_t *time)
{
    double since = (double)checked_delta(*time, rate->begin);
    int64_t by = checked_i64(round(since * rate->rate));

    if (*time == TASKS_NEVER || (by < 0 && *time < checked_size(by)))
        return;
    *time = by < 0 ? *time - checked_size(by)
                   : checked_add(*time, checked_size(by));
}

#define CHANGE(vector, count, field)                                           \
    for (size_t i = 0; i < (count); ++i)                                       \
    change(rate, &(vector)[i].field)

static void change_tasks(struct tasks *tasks, const struct rate *rate)
{
    CHANGE(tasks->objects, tasks_objects(tasks), begin);
    CHANGE(tasks->objects, tasks_objects(tasks), end);
    CHANGE(tasks->stretches, tasks->stretch_count, from);
    CHANGE(tasks->stretches, tasks->stretch_count, to);
    CHANGE(tasks->edges, tasks->edge_count, time);
    CHANGE(tasks->labels, tasks->label_count, time);
    CHANGE(tasks->counters, tasks->counter_count, time);
    CHANGE(tasks->pauses, tasks->pause_count, from);
    CHANGE(tasks->pauses, tasks->pause_count, to);
    CHANGE(tasks->irqs, tasks->irq_count, from);
    CHANGE(tasks->irqs, tasks->irq_count, to);
    CHANGE(tasks->losses, tasks->loss_count, from);
    CHANGE(tasks->losses, tasks->loss_count, to);
    CHANGE(tasks->messages, tasks->message_count, time);
    change(rate, &tasks->begin);
    change(rate, &tasks->end);
}

static void change_rate(struct timeline_trace *trace, const struct rate *rate)
{
    change_tasks(&trace->tasks, rate);
    CHANGE(trace->stolen, trace->stolen_count, from);
    CHANGE(trace->stolen, trace->stolen_count, to);
}

/* ---- by packets */

/* Times are those of the events to the clock: the truth is less than one clock
 * away. */
#define QUANTUM 1.0

struct pairs {
    struct match_pair *all;
    size_t count;
};

/* What the packets from (a) to (b), or back, say of (b)'s clock, for which
 * (a)'s is (base) more or so. */
static struct match_bound *bounds_of(const struct tasks *a,
                                     const struct tasks *b,
                                     const struct pairs *pairs, bool back,
                                     int64_t base)
{
    struct match_bound *bounds =
        xreallocarray(NULL, pairs->count + 1, sizeof *bounds);

    for (size_t i = 0; i < pairs->count; ++i) {
        const struct match_pair *pair = &pairs->all[i];
        uint64_t here = a->messages[back ? pair->received : pair->sent].time;
        uint64_t there = b->messages[back ? pair->sent : pair->received].time;

        bounds[i] = (struct match_bound){
            .x = (double)there,
            .more = (double)(int64_t)(here - there - (uint64_t)base) +
                    (back ? QUANTUM : -QUANTUM)};
    }
    return bounds;
}

/* How (b) is to be aligned with (a). False: packets do not say it. */
static bool find_clock(const struct tasks *a, const struct tasks *b,
                       struct match_clock *clock, int64_t *base,
                       uint64_t *packets)
{
    struct pairs there, back;
    bool found = false;

    there.all = match_messages(a, b, &there.count);
    back.all = match_messages(b, a, &back.count);
    *packets = there.count + back.count;
    if (there.count > 0 && back.count > 0) {
        struct match_bound *least, *most;

        *base = (int64_t)(a->messages[there.all[0].sent].time -
                          b->messages[there.all[0].received].time);
        least = bounds_of(a, b, &there, false, *base);
        most = bounds_of(a, b, &back, true, *base);
        found = match_clocks(least, there.count, most, back.count, clock);
        free(least);
        free(most);
    }
    free(there.all);
    free(back.all);
    return found;
}

static void apply(struct timeline_trace *trace, const struct timeline_trace *to,
                  const struct match_clock *clock, int64_t base,
                  uint64_t packets)
{
    const struct rate rate = {checked_u64(clock->begin), clock->rate};

    change_rate(trace, &rate);
    trace->how = TIMELINE_PACKETS;
    trace->shift = checked_plus(checked_plus(to->shift, base),
                                checked_i64(round(clock->more)));
    trace->error = to->error + clock->error;
    trace->rate = clock->rate;
    trace->packets = packets;
}

/* Aligns one more trace with an aligned one. False: none is left. */
static bool align_next(struct timeline *timeline)
{
    struct match_clock best = {0};
    size_t best_trace = 0, best_to = 0;
    int64_t best_base = 0;
    uint64_t best_packets = 0;

    for (size_t i = 1; i < timeline->count; ++i)
        for (size_t j = 0; j < timeline->count; ++j) {
            const struct timeline_trace *trace = &timeline->traces[i];
            const struct timeline_trace *to = &timeline->traces[j];
            struct match_clock clock = {0};
            uint64_t packets;
            int64_t base;

            if (trace->how == TIMELINE_PACKETS ||
                (j > 0 && to->how != TIMELINE_PACKETS) ||
                !find_clock(&to->tasks, &trace->tasks, &clock, &base,
                            &packets) ||
                (best_trace > 0 &&
                 clock.error + to->error >=
                     best.error + timeline->traces[best_to].error))
                continue;
            best = clock;
            best_trace = i;
            best_to = j;
            best_base = base;
            best_packets = packets;
        }
    if (best_trace == 0)
        return false;
    apply(&timeline->traces[best_trace], &timeline->traces[best_to], &best,
          best_base, best_packets);
    return true;
}

/* ---- all of it */

#define SECONDS_MAX (UINT32_MAX * (uint64_t)4) /* so that clocks fit */

static bool has_utc(const struct timeline_trace *trace)
{
    return trace->unix_seconds > 0 && trace->unix_seconds <= SECONDS_MAX;
}

static void align_by_utc(struct timeline_trace *trace,
                         const struct timeline_trace *first)
{
    if (!has_utc(trace) || !has_utc(first))
        return;
    trace->how = TIMELINE_UTC;
    trace->shift = (int64_t)(trace->unix_seconds - first->unix_seconds) *
                   (int64_t)PROF_CLOCK_HZ;
}

void clocks_align(struct timeline *timeline)
{
    int64_t least = INT64_MAX;

    while (align_next(timeline))
        ;
    for (size_t i = 0; i < timeline->count; ++i) {
        struct timeline_trace *trace = &timeline->traces[i];

        if (i > 0 && trace->how == TIMELINE_AS_IS)
            align_by_utc(trace, &timeline->traces[0]);
        trace->shift += trace->moved;
        if (trace->shift < least)
            least = trace->shift;
    }
    for (size_t i = 0; i < timeline->count; ++i)
        timeline->traces[i].shift -= least;
}

/* (seconds) with a unit, "0.30 ms". */
static void put_error(double seconds, char *text, size_t room)
{
    if (seconds < 1e-3)
        snprintf(text, room, "%.1f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, room, "%.2f ms", seconds * 1e3);
    else
        snprintf(text, room, "%.3f s", seconds);
}

const char *clocks_text(const struct timeline_trace *trace, char *text)
{
    char error[40];

    put_error(trace->error / PROF_CLOCK_HZ, error, sizeof error);
    if (trace->how == TIMELINE_PACKETS)
        snprintf(text, CLOCKS_TEXT_MAX,
                 "to within %s, by %llu packets; its clock is %.1f ppm %s",
                 error, (unsigned long long)trace->packets,
                 fabs(trace->rate) * 1e6, trace->rate < 0 ? "fast" : "slow");
    else if (trace->how == TIMELINE_UTC)
        snprintf(text, CLOCKS_TEXT_MAX,
                 "by the time of day at boot, to the second only");
    else
        snprintf(text, CLOCKS_TEXT_MAX,
                 "not aligned: no packets, no time of day at boot");
    return text;
}
