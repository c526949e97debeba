/* SPDX-License-Identifier: Apache-2.0 */
/* Traces are aligned with the first one, or with one that is aligned already:
 * the one with the least error first, since errors add up. */

#include "timeline/clocks.h"

#include "base/checked.h"
#include "base/memory.h"

#include <math.h>
#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

/* ---- the same messages */

/* Where messages of one side are, by what they are called. */
struct known {
    struct index names;
    uint32_t *at;
    bool *again; /* more than once */
};

static void note_messages(struct known *known, const struct tasks *tasks,
                          bool sent)
{
    known->at =
        xreallocarray(NULL, tasks->message_count + 1, sizeof *known->at);
    known->again =
        xreallocarray(NULL, tasks->message_count + 1, sizeof *known->again);
    for (uint32_t i = 0; i < tasks->message_count; ++i) {
        uint32_t number;
        bool is_new;

        if (tasks->messages[i].sent != sent)
            continue;
        number = index_add(&known->names, tasks->messages[i].message, &is_new);
        known->at[number] = i;
        known->again[number] = !is_new;
    }
}

/* INDEX_NONE: it is not there, or more than once. */
static uint32_t find_message(const struct known *known, uint32_t message)
{
    uint32_t number = index_find(&known->names, message);

    return number != INDEX_NONE && !known->again[number] ? known->at[number]
                                                         : INDEX_NONE;
}

static void forget_messages(struct known *known)
{
    index_free(&known->names);
    free(known->at);
    free(known->again);
}

struct match_pair *match_messages(const struct tasks *from,
                                  const struct tasks *to, size_t *count)
{
    struct match_pair *pairs =
        xreallocarray(NULL, from->message_count + 1, sizeof *pairs);
    struct known sent = {0}, received = {0};

    note_messages(&sent, from, true);
    note_messages(&received, to, false);
    *count = 0;
    for (uint32_t i = 0; i < from->message_count; ++i) {
        uint32_t message = from->messages[i].message;
        struct match_pair pair = {i, find_message(&received, message)};

        if (find_message(&sent, message) == i && pair.received != INDEX_NONE)
            pairs[(*count)++] = pair;
    }
    forget_messages(&sent);
    forget_messages(&received);
    return pairs;
}

/*
 * ---- two clocks
 *
 * For a given rate, the bounds leave a gap: from the highest lower bound to the
 * lowest upper one, all moved along the rate. The gap is a concave function of
 * the rate, so a ternary search finds the widest, and bisection the rates at
 * which it closes. Only the corners of the bounds' convex hulls matter, which
 * are few.
 */

/* Corners of a hull, with x from 0 on. */
struct bounds {
    const struct match_bound *all;
    size_t count;
    double sign; /* 1: upper bounds, -1: lower ones */
};

static int by_x(const void *left, const void *right)
{
    const struct match_bound *a = left, *b = right;

    return (a->x > b->x) - (a->x < b->x);
}

/* Whether (b) is no corner between (a) and (c). */
static bool is_beyond(double sign, const struct match_bound *a,
                      const struct match_bound *b, const struct match_bound *c)
{
    return sign * ((b->more - a->more) * (c->x - a->x) -
                   (c->more - a->more) * (b->x - a->x)) >=
           0;
}

/* Keeps the corners of the hull alone, in place: the lower one of upper bounds,
 * the upper one of lower ones. */
static struct bounds hull_of(struct match_bound *all, size_t count, double sign)
{
    size_t kept = 0;

    qsort(all, count, sizeof *all, by_x);
    for (size_t i = 0; i < count; ++i) {
        struct match_bound next = all[i];

        while (kept > 1 &&
               is_beyond(sign, &all[kept - 2], &all[kept - 1], &next))
            --kept;
        if (kept == 1 && all[0].x == next.x &&
            sign * (all[0].more - next.more) >= 0)
            kept = 0;
        all[kept++] = next;
    }
    return (struct bounds){all, kept, sign};
}

/* What the bounds say of x = 0, at (rate). */
static double bound_at(const struct bounds *bounds, double rate)
{
    double best = bounds->all[0].more - rate * bounds->all[0].x;

    for (size_t i = 1; i < bounds->count; ++i) {
        double more = bounds->all[i].more - rate * bounds->all[i].x;

        if (bounds->sign * (more - best) < 0)
            best = more;
    }
    return best;
}

/* What is searched for, by the rate: the widest gap; or, at time (x), the
 * highest upper bound, the lowest lower one. */
struct search {
    const struct bounds *least;
    const struct bounds *most;
    enum { GAP, HIGHEST, LOWEST } what;
    double x;
};

static double value_at(const struct search *search, double rate)
{
    switch (search->what) {
    case GAP:
        return bound_at(search->most, rate) - bound_at(search->least, rate);
    case HIGHEST:
        return bound_at(search->most, rate) + rate * search->x;
    default:
        return -bound_at(search->least, rate) - rate * search->x;
    }
}

#define STEPS 100 /* each leaves two thirds */

/* The rate in [low, high] with the highest value, a concave function. */
static double best_rate(const struct search *search, double low, double high)
{
    for (int i = 0; i < STEPS; ++i) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;

        if (value_at(search, a) < value_at(search, b))
            low = a;
        else
            high = b;
    }
    return (low + high) / 2;
}

/* From (inside), where there is a gap, towards (outside): as far as there is
 * one. */
static double limit_of(const struct search *gap, double inside, double outside)
{
    if (value_at(gap, outside) >= 0)
        return outside;
    for (int i = 0; i < STEPS; ++i) {
        double middle = (inside + outside) / 2;

        if (value_at(gap, middle) >= 0)
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

/* The middle of what is possible at (x), and the error. */
static double middle_at(const struct search *gap, double low, double high,
                        double x, double *error)
{
    struct search highest = {gap->least, gap->most, HIGHEST, x};
    struct search lowest = {gap->least, gap->most, LOWEST, x};
    double most = value_at(&highest, best_rate(&highest, low, high));
    double least = -value_at(&lowest, best_rate(&lowest, low, high));

    *error = (most - least) / 2;
    return (most + least) / 2;
}

static bool solve_clock(const struct bounds *least, const struct bounds *most,
                        double rate, struct match_clock *clock)
{
    const struct search gap = {least, most, GAP, 0};
    const double best = best_rate(&gap, -rate, rate);
    const double length = clock->end - clock->begin;
    double low, high, first, last, errors[2];

    if (value_at(&gap, best) < 0)
        return false;
    low = limit_of(&gap, best, -rate);
    high = limit_of(&gap, best, rate);
    first = middle_at(&gap, low, high, 0, &errors[0]);
    last = middle_at(&gap, low, high, length, &errors[1]);
    clock->more = first;
    clock->rate = length > 0 ? (last - first) / length : 0;
    clock->error = errors[0] > errors[1] ? errors[0] : errors[1];
    return true;
}

static void move_x(struct match_bound *all, size_t count, double by)
{
    for (size_t i = 0; i < count; ++i)
        all[i].x -= by;
}

/* The same where no bound is strange. */
static bool try_all(struct match_bound *least, size_t least_count,
                    struct match_bound *most, size_t most_count,
                    struct match_clock *clock)
{
    struct bounds lower, upper;

    if (least_count == 0 || most_count == 0)
        return false;
    lower = hull_of(least, least_count, -1);
    upper = hull_of(most, most_count, 1);
    /* a hull has the first and the last of its points */
    clock->begin = least[0].x < most[0].x ? least[0].x : most[0].x;
    clock->end = least[lower.count - 1].x > most[upper.count - 1].x
                     ? least[lower.count - 1].x
                     : most[upper.count - 1].x;
    move_x(least, lower.count, clock->begin);
    move_x(most, upper.count, clock->begin);
    for (double rate = MATCH_RATE; rate <= MATCH_RATE_MAX * 1.01; rate *= 10)
        if (solve_clock(&lower, &upper, rate, clock))
            return true;
    return false;
}

static int by_more(const void *left, const void *right)
{
    const struct match_bound *a = left, *b = right;

    return (a->more > b->more) - (a->more < b->more);
}

/* Leaves out what is strange of (count) bounds; returns how many remain. */
static size_t keep_near(struct match_bound *all, size_t count, double median)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; ++i) {
        if (fabs(all[i].more - median) <= MATCH_STRANGE)
            all[kept++] = all[i];
    }
    return kept;
}

bool match_clocks(struct match_bound *least, size_t least_count,
                  struct match_bound *most, size_t most_count,
                  struct match_clock *clock)
{
    const size_t count = least_count + most_count;
    struct match_bound *all = xreallocarray(NULL, count + 1, sizeof *all);
    double median;
    bool found;

    memcpy(all, least, least_count * sizeof *all);
    memcpy(all + least_count, most, most_count * sizeof *all);
    found = try_all(all, least_count, all + least_count, most_count, clock);
    if (!found && least_count > 0 && most_count > 0) {
        memcpy(all, least, least_count * sizeof *all);
        memcpy(all + least_count, most, most_count * sizeof *all);
        qsort(all, count, sizeof *all, by_more);
        median = all[count / 2].more;
        found = try_all(least, keep_near(least, least_count, median), most,
                        keep_near(most, most_count, median), clock);
    }
    free(all);
    return found;
}

/* ---- another rate */

struct rate {
    uint64_t begin;
    double rate;
};

static void change_time(const struct rate *rate, uint64_t *time)
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
    change_time(rate, &(vector)[i].field)

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
    CHANGE(tasks->stolen, tasks->stolen_count, from);
    CHANGE(tasks->stolen, tasks->stolen_count, to);
    change_time(rate, &tasks->begin);
    change_time(rate, &tasks->end);
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

/* How a trace may be aligned with another one, (to). */
struct alignment {
    size_t trace;
    size_t to;
    struct match_clock clock;
    int64_t base;
    uint64_t packets;
    double error; /* of (trace), then */
};

/* Fills (way) for (b), which is to be aligned with (a). False: packets do not
 * say how. */
static bool find_clock(const struct tasks *a, const struct tasks *b,
                       struct alignment *way)
{
    struct pairs there, back;
    bool found = false;

    there.all = match_messages(a, b, &there.count);
    back.all = match_messages(b, a, &back.count);
    way->packets = there.count + back.count;
    if (there.count > 0 && back.count > 0) {
        struct match_bound *least, *most;

        way->base = (int64_t)(a->messages[there.all[0].sent].time -
                              b->messages[there.all[0].received].time);
        least = bounds_of(a, b, &there, false, way->base);
        most = bounds_of(a, b, &back, true, way->base);
        found = match_clocks(least, there.count, most, back.count, &way->clock);
        free(least);
        free(most);
    }
    free(there.all);
    free(back.all);
    return found;
}

static void apply_clock(struct timeline *timeline, const struct alignment *way)
{
    struct timeline_trace *trace = &timeline->traces[way->trace];
    const struct rate rate = {checked_u64(way->clock.begin), way->clock.rate};

    change_tasks(&trace->tasks, &rate);
    trace->how = TIMELINE_PACKETS;
    trace->shift =
        checked_plus(checked_plus(timeline->traces[way->to].shift, way->base),
                     checked_i64(round(way->clock.more)));
    trace->error = way->error;
    trace->rate = way->clock.rate;
    trace->packets = way->packets;
}

/* Aligns one more trace with an aligned one. False: none is left. */
static bool align_next(struct timeline *timeline)
{
    struct alignment best = {.error = INFINITY};

    for (size_t i = 1; i < timeline->count; ++i)
        for (size_t j = 0; j < timeline->count; ++j) {
            const struct timeline_trace *trace = &timeline->traces[i];
            const struct timeline_trace *to = &timeline->traces[j];
            struct alignment way = {.trace = i, .to = j};

            if (trace->how == TIMELINE_PACKETS ||
                (j > 0 && to->how != TIMELINE_PACKETS) ||
                !find_clock(&to->tasks, &trace->tasks, &way))
                continue;
            way.error = way.clock.error + to->error;
            if (way.error < best.error)
                best = way;
        }
    if (best.trace > 0)
        apply_clock(timeline, &best);
    return best.trace > 0;
}

/* ---- all of it */

#define SECONDS_MAX (UINT32_MAX * (uint64_t)4) /* so that clocks fit */

static bool has_utc(const struct timeline_trace *trace)
{
    return trace->tasks.unix_seconds > 0 &&
           trace->tasks.unix_seconds <= SECONDS_MAX;
}

static void align_by_utc(struct timeline_trace *trace,
                         const struct timeline_trace *first)
{
    if (!has_utc(trace) || !has_utc(first))
        return;
    trace->how = TIMELINE_UTC;
    trace->shift =
        (int64_t)(trace->tasks.unix_seconds - first->tasks.unix_seconds) *
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
