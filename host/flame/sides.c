/* SPDX-License-Identifier: Apache-2.0 */
/* A guest from both sides on one clock, and what only the outside sees. */

#include "flame/sides.h"

#include "base/log.h"
#include "base/memory.h"
#include "page/columns.h"

#include <math.h>
#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

#define GAP_PERIODS 3.0   /* without a sample: it is a gap */
#define EDGE_PERIODS 1.5  /* beside the first and last sample: not yet one */
#define CLOCKS_MAX 0x1p62 /* the sum of two of them fits, too */

/* ---- the clock */

/* Whether (event) is one sample, which the vector held. */
static bool is_one_sample(const struct event *event)
{
    return event->kind == PROF_EVENT_SAMPLE || event->kind == PROF_EVENT_IDLE;
}

/* The number of the first of (count) sorted numbers that is beyond (limit). */
static size_t first_beyond(const double *numbers, size_t count, double limit)
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

/* (clocks) as a whole number: the nearest one if they are out of range, which
 * extrapolated times of a damaged trace can be. */
static uint64_t whole_clocks(double clocks)
{
    if (!(clocks > 0))
        return 0;
    return (uint64_t)fmin(clocks, CLOCKS_MAX);
}

/* All of (view) once more. */
static void read_again(struct view *view, struct model_watch watch)
{
    struct model again = {.watch = watch};

    trace_feed(&view->trace, &again);
    model_free(&again);
}

static void take_inside(void *owner, const struct event *event, uint32_t node,
                        uint64_t clocks, const struct model_cpu *cpu)
{
    struct sides *sides = owner;
    struct sides_inside *inside = &sides->inside[cpu->cpu % MODEL_CPUS_MAX];
    bool sums =
        event->kind == PROF_EVENT_OVERFLOW || event->kind == PROF_EVENT_DROP;

    (void)node;
    (void)clocks;
    sides->by_nmi |= event->kind == PROF_EVENT_NMI || cpu->irqs_off;
    if (!is_one_sample(event) && !sums)
        return;
    vector_reserve_one(&inside->times, inside->count, sizeof(double));
    vector_reserve_one(&inside->whole, inside->count, sizeof(bool));
    inside->whole[inside->count] = sums;
    inside->times[inside->count++] = (double)event->time;
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

/* Readings are of the newest sample of CPU 0, rounded down, as the samples'
 * times are. While the guest has no room for samples its newest one stays what
 * it is: only a sample says that the reading was before it. */
static void set_limits(const struct sides *sides, struct marks *marks)
{
    const struct sides_inside *inside = &sides->inside[0];
    double *samples = xreallocarray(NULL, inside->count + 1, sizeof *samples);
    size_t used = 0, count = 0;

    for (size_t i = 0; i < inside->count; ++i)
        if (!inside->whole[i])
            samples[count++] = inside->times[i];
    for (size_t i = 0; i < marks->count; ++i) {
        struct align_mark mark = marks->list[i];
        size_t next = first_beyond(samples, count, mark.least + 1);

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

    read_again(inside, (struct model_watch){take_inside, sides});
    read_again(outside, (struct model_watch){take_mark, &marks});
    readings = marks.count;
    if (sides->inside[0].count == 0)
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
        flame->lead = whole_clocks((double)flame->begin - begin);
    if (whole_clocks(end) > flame->end)
        flame->end = whole_clocks(end);
    sides->period = inside->model.rate_mhz > 0
                        ? PROF_CLOCK_HZ * 1000.0 / inside->model.rate_mhz
                        : (double)PROF_CLOCK_HZ;
    sides->ended = inside->model.ended;
}

bool sides_is_outside(struct view *view)
{
    static const uint8_t nobody[16];
    struct marks marks = {.uuid = nobody, .before = -1, .after = INFINITY};

    read_again(view, (struct model_watch){take_mark, &marks});
    free(marks.list);
    return marks.before >= 0;
}

/* Finds what both have in common: flame->sides.align, and the span of both. */
static void find_common_clock(struct flame *flame, struct view *inside,
                              struct view *outside)
{
    find_clock(flame->sides, inside, outside);
    find_error(flame->sides);
    find_span(flame, inside, outside);
}

/* (at), on the clock inside, as in sides_sample.time. */
static uint64_t since_begin(const struct flame *flame, double at)
{
    return whole_clocks(at - (double)flame->begin + (double)flame->lead);
}

/* ---- samples from outside */

struct reading {
    struct flame *flame;
    struct view *view;
    const uint32_t *stacks; /* by cell */
    bool *masked;           /* by CPU: the next sample's interrupts are off */
};

/* Whether (at), on the clock inside, is in a gap between two samples. */
static bool is_gap(const struct sides_inside *inside, double period, double at,
                   double error)
{
    const double *times = inside->times;
    size_t next = first_beyond(times, inside->count, at);

    return next > 0 && next < inside->count && !inside->whole[next] &&
           times[next] - times[next - 1] > GAP_PERIODS * period &&
           at - times[next - 1] > error && times[next] - at > error;
}

/* Whether the innermost function is the profiler's. */
static bool is_profiler(struct view *view, uint32_t node)
{
    const struct frame *frames;
    size_t count;

    if (node < MODEL_PSEUDOS)
        return false;
    frames =
        names_at(&view->names, view->model.nodes[node].address, false, &count);
    return frames[0].own;
}

static enum sides_kind kind_of(const struct reading *reading, double at,
                               double error, uint32_t node, uint32_t cpu)
{
    const struct sides *sides = reading->flame->sides;
    const struct sides_inside *inside = &sides->inside[cpu % MODEL_CPUS_MAX];
    double edge = EDGE_PERIODS * sides->period;

    if (inside->count == 0)
        return SIDES_CPU;
    if (at < inside->times[0] - edge)
        return SIDES_EARLY;
    if (at > inside->times[inside->count - 1] + edge)
        return SIDES_AFTER;
    if (reading->masked[cpu % MODEL_CPUS_MAX] &&
        is_profiler(reading->view, node))
        return SIDES_SAMPLER;
    if (reading->masked[cpu % MODEL_CPUS_MAX] && !sides->by_nmi)
        return SIDES_MASKED;
    return is_gap(inside, sides->period, at, error) ? SIDES_GAP : SIDES_BOTH;
}

static void put_sample(struct reading *reading, const struct event *event,
                       uint32_t node, uint64_t clocks,
                       const struct model_cpu *cpu)
{
    struct flame *flame = reading->flame;
    struct sides *sides = flame->sides;
    uint32_t cell =
        model_cell_of(&reading->view->model, node, cpu->task, cpu->cpu);
    double error, at = align_at(&sides->align, (double)event->time, &error);
    struct sides_sample sample = {
        .time = since_begin(flame, at),
        .clocks = clocks,
        .samples = event_samples(event),
        .cpu = cpu->cpu,
        .kind = kind_of(reading, at, error, node, cpu->cpu),
    };

    if (cell == INDEX_NONE || reading->stacks[cell] == FLAME_NONE)
        return;
    if ((double)event->time < sides->first ||
        (double)event->time >= sides->last) {
        ++sides->left_out;
        return;
    }
    sample.stack = reading->stacks[cell];
    vector_reserve_one(&sides->samples, sides->count, sizeof sample);
    sides->samples[sides->count++] = sample;
    sides->clocks[sample.kind] += clocks;
    sides->all += clocks;
}

static void take_outside(void *owner, const struct event *event, uint32_t node,
                         uint64_t clocks, const struct model_cpu *cpu)
{
    struct reading *reading = owner;

    if (event->kind == PROF_EVENT_MASKED)
        reading->masked[cpu->cpu % MODEL_CPUS_MAX] = true;
    if (!is_one_sample(event))
        return;
    put_sample(reading, event, node, clocks, cpu);
    reading->masked[cpu->cpu % MODEL_CPUS_MAX] = false;
}

static int by_time(const void *left, const void *right)
{
    const struct sides_sample *a = left, *b = right;

    return (a->time > b->time) - (a->time < b->time);
}

void sides_add_samples(struct flame *flame, struct view *view,
                       const uint32_t *stacks)
{
    bool masked[MODEL_CPUS_MAX] = {false};
    struct reading reading = {flame, view, stacks, masked};
    struct sides *sides = flame->sides;

    read_again(view, (struct model_watch){take_outside, &reading});
    if (sides->count > 0)
        qsort(sides->samples, sides->count, sizeof *sides->samples, by_time);
}

/* ---- windows */

/* The kind that most samples of [from, to) on (cpu) are of, SIDES_BOTH if there
 * are none; continues at *(next). */
static enum sides_kind kind_between(const struct sides *sides, uint32_t cpu,
                                    uint64_t from, uint64_t to, size_t *next)
{
    size_t counts[SIDES_KINDS] = {0};
    enum sides_kind most = SIDES_BOTH;

    while (*next < sides->count && sides->samples[*next].time < from)
        ++*next;
    for (; *next < sides->count && sides->samples[*next].time < to; ++*next)
        counts[sides->samples[*next].kind] += sides->samples[*next].cpu == cpu;
    counts[SIDES_BOTH] = 0;
    for (int kind = 0; kind < SIDES_KINDS; ++kind)
        if (counts[kind] > counts[most])
            most = (enum sides_kind)kind;
    return most;
}

static void put_window(struct flame *flame, uint32_t cpu, double from,
                       double to, size_t *next)
{
    struct sides *sides = flame->sides;
    struct sides_window window = {SIDES_BOTH, since_begin(flame, from),
                                  since_begin(flame, to), cpu};

    window.kind = kind_between(sides, cpu, window.from, window.to, next);
    if (window.kind == SIDES_BOTH)
        return;
    vector_reserve_one(&sides->windows, sides->window_count, sizeof window);
    sides->windows[sides->window_count++] = window;
}

static void find_windows(struct flame *flame, uint32_t cpu)
{
    const struct sides *sides = flame->sides;
    const struct sides_inside *inside = &sides->inside[cpu];
    const double *times = inside->times;
    size_t next = 0;
    double edge = EDGE_PERIODS * sides->period;

    if (inside->count == 0)
        return;
    put_window(flame, cpu, -INFINITY, times[0] - edge, &next);
    for (size_t i = 1; i < inside->count; ++i)
        if (!inside->whole[i] &&
            times[i] - times[i - 1] > GAP_PERIODS * sides->period)
            put_window(flame, cpu, times[i - 1], times[i], &next);
    put_window(flame, cpu, times[inside->count - 1] + edge,
               (double)flame->end + 1, &next);
}

/* ---- all of it */

void sides_add(struct flame *flame, struct view *inside, struct view *outside,
               struct exits *exits)
{
    static struct sides sides;

    flame->sides = &sides;
    find_common_clock(flame, inside, outside);
    flame_add(flame, inside, FLAME_NEW, exits);
    flame_add(flame, outside, FLAME_BASE, exits);
    flame_add_cpus(flame, &outside->model);
    for (uint32_t cpu = 0; cpu < MODEL_CPUS_MAX; ++cpu)
        find_windows(flame, cpu);
}

void sides_free(struct sides *sides)
{
    align_free(&sides->align);
    free(sides->samples);
    free(sides->windows);
    for (size_t i = 0; i < MODEL_CPUS_MAX; ++i) {
        free(sides->inside[i].times);
        free(sides->inside[i].whole);
    }
    *sides = (struct sides){0};
}

/* ---- the payload of the page (docs/views.md) */

static const char *const names[SIDES_KINDS] = {
    [SIDES_BOTH] = "seen by both",
    [SIDES_EARLY] = "before its first sample",
    [SIDES_AFTER] = "after its last sample",
    [SIDES_MASKED] = "interrupts off",
    [SIDES_SAMPLER] = "in its own interrupt",
    [SIDES_GAP] = "no tick came",
    [SIDES_CPU] = "other CPUs",
};

const char *sides_kind_name(enum sides_kind kind)
{
    return names[kind];
}

void sides_put_columns(const struct flame *flame, struct columns *columns)
{
    const struct sides *sides = flame->sides;
    const struct sides_sample *samples = sides->samples;
    const struct sides_window *windows = sides->windows;

    COLUMNS_PUT_ALL(columns, "outside.time", columns_put_change, sides->count,
                    samples[i].time);
    COLUMNS_PUT_ALL(columns, "outside.stack", columns_put, sides->count,
                    samples[i].stack);
    COLUMNS_PUT_ALL(columns, "outside.clocks", columns_put, sides->count,
                    samples[i].clocks);
    COLUMNS_PUT_ALL(columns, "outside.kind", columns_put, sides->count,
                    samples[i].kind);
    if (flame->cpu_count > 1) {
        COLUMNS_PUT_ALL(columns, "outside.cpu", columns_put, sides->count,
                        samples[i].cpu);
        COLUMNS_PUT_ALL(columns, "window.cpu", columns_put, sides->window_count,
                        windows[i].cpu);
    }
    COLUMNS_PUT_ALL(columns, "window.kind", columns_put, sides->window_count,
                    windows[i].kind);
    COLUMNS_PUT_ALL(columns, "window.from", columns_put_change,
                    sides->window_count, windows[i].from);
    COLUMNS_PUT_ALL(columns, "window.length", columns_put, sides->window_count,
                    windows[i].to - windows[i].from);
}

json_t *sides_head(const struct flame *flame)
{
    const struct sides *sides = flame->sides;
    json_t *kinds = json_array();

    for (int i = 0; i < SIDES_KINDS; ++i)
        json_array_append_new(kinds, json_string(names[i]));
    return json_pack("{so sf sf sf sI sI sb}", "kinds", kinds, "error",
                     sides->error, "worst", sides->worst, "slack",
                     sides->align.slack < 1 ? sides->align.slack : -1.0,
                     "readings", (json_int_t)sides->align.count, "jumps",
                     (json_int_t)sides->align.jumped, "ended", sides->ended);
}
