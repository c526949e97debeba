/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides on one clock. */

#include "flame/sides_parts.h"

#include "base/log.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

#define CLOCKS_MAX 0x1p62 /* the sum of two of them fits, too */

bool sides_is_sample(const struct event *event)
{
    return event->kind == PROF_EVENT_SAMPLE || event->kind == PROF_EVENT_IDLE;
}

size_t sides_beyond(const double *numbers, size_t count, double limit)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (numbers[middle] > limit)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint64_t sides_clocks(double clocks)
{
    if (!(clocks > 0))
        return 0;
    return (uint64_t)fmin(clocks, CLOCKS_MAX);
}

void sides_read(struct view *view, struct model_watch watch)
{
    struct model again = {.watch = watch};

    trace_feed(&view->trace, &again);
    model_free(&again);
}

static void take_inside(void *owner, const struct event *event, uint32_t node,
                        uint64_t clocks, const struct model_cpu *cpu)
{
    struct sides *sides = owner;
    bool sums =
        event->kind == PROF_EVENT_OVERFLOW || event->kind == PROF_EVENT_DROP;

    (void)node;
    (void)clocks;
    (void)cpu;
    if (!sides_is_sample(event) && !sums)
        return;
    vector_reserve_one(&sides->inside, sides->inside_count, sizeof(double));
    vector_reserve_one(&sides->whole, sides->inside_count, sizeof(bool));
    sides->whole[sides->inside_count] = sums;
    sides->inside[sides->inside_count++] = (double)event->time;
}

struct marks {
    const uint8_t *uuid; /* of the trace inside */
    struct align_mark *list;
    size_t count;
    double before; /* the last reading of another boot before these, -1: none */
    double after;  /* the first one of another boot after them */
};

static bool is_of(const uint8_t *uuid, const struct event_inside *inside)
{
    uint64_t halves[2] = {inside->boot, inside->time_of_boot};

    for (unsigned i = 0; i < 16; ++i)
        if (uuid[i] != (uint8_t)(halves[i / 8] >> i % 8 * 8))
            return false;
    return true;
}

static void take_mark(void *owner, const struct event *event, uint32_t node,
                      uint64_t clocks, const struct model_cpu *cpu)
{
    struct marks *marks = owner;
    double time = (double)event->time;

    (void)node;
    (void)clocks;
    (void)cpu;
    if (event->kind != PROF_EVENT_INSIDE)
        return;
    if (!is_of(marks->uuid, &event->as_inside)) {
        if (marks->count == 0)
            marks->before = time;
        else if (time < marks->after)
            marks->after = time;
        return;
    }
    vector_reserve_one(&marks->list, marks->count, sizeof *marks->list);
    marks->list[marks->count++] = (struct align_mark){
        time, (double)event->as_inside.newest, ALIGN_UNLIMITED};
}

static int by_number(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Readings are rounded down, as the samples' times are. While the guest has no
 * room for samples its newest one stays what it is: only a sample says that the
 * reading was before it. */
static void set_limits(const struct sides *sides, struct marks *marks)
{
    double *samples =
        xreallocarray(NULL, sides->inside_count + 1, sizeof *samples);
    size_t used = 0, count = 0;

    for (size_t i = 0; i < sides->inside_count; ++i)
        if (!sides->whole[i])
            samples[count++] = sides->inside[i];
    for (size_t i = 0; i < marks->count; ++i) {
        struct align_mark mark = marks->list[i];
        size_t next = sides_beyond(samples, count, mark.least + 1);

        if (next == count) /* after the last sample */
            continue;
        mark.most = samples[next];
        marks->list[used++] = mark;
    }
    marks->count = used;
    free(samples);
}

static void find_clock(struct sides *sides, struct view *inside,
                       struct view *outside)
{
    struct marks marks = {
        .uuid = inside->trace.index.uuid, .before = -1, .after = INFINITY};
    size_t readings;

    sides_read(inside, (struct model_watch){take_inside, sides});
    sides_read(outside, (struct model_watch){take_mark, &marks});
    readings = marks.count;
    if (sides->inside_count == 0)
        die("%s: %s", inside->input, view_why_empty(inside));
    if (readings == 0)
        die("%s and %s are not of the same boot", inside->input,
            outside->input);
    set_limits(sides, &marks);
    if (!align_fit(&sides->align, marks.list, marks.count))
        die("%s and %s have no common clock: %zu of %zu readings of the "
            "profiler's clock are of use, %zu of these contradict others",
            inside->input, outside->input, marks.count, readings,
            sides->align.refused);
    sides->first = marks.before < 0 ? 0 : marks.before;
    sides->last = marks.after;
    free(marks.list);
}

/* Median and worst error of the clock, where samples inside limit it. */
static void find_error(struct sides *sides)
{
    const struct align *align = &sides->align;
    double *errors = xreallocarray(NULL, align->count, sizeof *errors);

    for (size_t i = 0; i < align->count; ++i)
        errors[i] = (align->marks[i].most - align->marks[i].least) / 2;
    qsort(errors, align->count, sizeof *errors, by_number);
    sides->error = errors[align->count / 2];
    sides->worst = errors[align->count - 1];
    free(errors);
}

/* From the earlier beginning to the later end. */
static void find_span(struct flame *flame, const struct view *inside,
                      const struct view *outside)
{
    struct sides *sides = flame->sides;
    double error, end;
    double begin =
        align_at(&sides->align,
                 fmax(sides->first, (double)outside->model.begin), &error);

    end = align_at(&sides->align, fmin(sides->last, (double)outside->model.end),
                   &error);
    flame_set_span(flame, &inside->model);
    if (begin < (double)flame->begin)
        flame->lead = sides_clocks((double)flame->begin - begin);
    if (sides_clocks(end) > flame->end)
        flame->end = sides_clocks(end);
    sides->period = inside->model.rate_mhz > 0
                        ? PROF_CLOCK_HZ * 1000.0 / inside->model.rate_mhz
                        : (double)PROF_CLOCK_HZ;
    sides->ended = inside->model.ended;
}

bool sides_is_outside(struct view *view)
{
    static const uint8_t nobody[16];
    struct marks marks = {.uuid = nobody, .before = -1, .after = INFINITY};

    sides_read(view, (struct model_watch){take_mark, &marks});
    free(marks.list);
    return marks.before >= 0;
}

void sides_find_clock(struct flame *flame, struct view *inside,
                      struct view *outside)
{
    find_clock(flame->sides, inside, outside);
    find_error(flame->sides);
    find_span(flame, inside, outside);
}
