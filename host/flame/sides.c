/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from outside, and what only the outside sees. */

#include "flame/sides_parts.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAP_PERIODS 3.0  /* without a sample: it is a gap */
#define EDGE_PERIODS 1.5 /* beside the first and last sample: not yet one */

/* (at), on the clock inside, as in sides_sample.time. */
static uint64_t since_begin(const struct flame *flame, double at)
{
    return sides_clocks(at - (double)flame->begin + (double)flame->lead);
}

/* ---- samples from outside */

struct reading {
    struct flame *flame;
    struct view *view;
    const uint32_t *stacks; /* by cell */
    bool *masked;           /* by CPU: the next sample's interrupts are off */
};

/* Whether (at), on the clock inside, is in a gap between two samples. */
static bool is_gap(const struct sides *sides, double at, double error)
{
    size_t next = sides_beyond(sides->inside, sides->inside_count, at);

    return next > 0 && next < sides->inside_count && !sides->whole[next] &&
           sides->inside[next] - sides->inside[next - 1] >
               GAP_PERIODS * sides->period &&
           at - sides->inside[next - 1] > error &&
           sides->inside[next] - at > error;
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
    return count > 0 && strncmp(names_text(&view->names, frames[0].function),
                                "prof_", 5) == 0;
}

static enum sides_kind kind_of(const struct reading *reading, double at,
                               double error, uint32_t node, uint32_t cpu)
{
    const struct sides *sides = reading->flame->sides;
    double edge = EDGE_PERIODS * sides->period;

    if (cpu != 0)
        return SIDES_CPU;
    if (at < sides->inside[0] - edge)
        return SIDES_EARLY;
    if (at > sides->inside[sides->inside_count - 1] + edge)
        return SIDES_AFTER;
    if (reading->masked[cpu])
        return is_profiler(reading->view, node) ? SIDES_SAMPLER : SIDES_MASKED;
    return is_gap(sides, at, error) ? SIDES_GAP : SIDES_BOTH;
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
    if (!sides_is_sample(event))
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

    sides_read(view, (struct model_watch){take_outside, &reading});
    if (sides->count > 0)
        qsort(sides->samples, sides->count, sizeof *sides->samples, by_time);
}

/* ---- windows */

/* The kind that most samples of [from, to) on CPU 0 are of, SIDES_BOTH if there
 * are none; continues at *(next). */
static enum sides_kind kind_between(const struct sides *sides, uint64_t from,
                                    uint64_t to, size_t *next)
{
    size_t counts[SIDES_KINDS] = {0};
    enum sides_kind most = SIDES_BOTH;

    while (*next < sides->count && sides->samples[*next].time < from)
        ++*next;
    for (; *next < sides->count && sides->samples[*next].time < to; ++*next)
        ++counts[sides->samples[*next].kind];
    counts[SIDES_BOTH] = counts[SIDES_CPU] = 0;
    for (int kind = 0; kind < SIDES_KINDS; ++kind)
        if (counts[kind] > counts[most])
            most = (enum sides_kind)kind;
    return most;
}

static void put_window(struct flame *flame, double from, double to,
                       size_t *next)
{
    struct sides *sides = flame->sides;
    struct sides_window window = {SIDES_BOTH, since_begin(flame, from),
                                  since_begin(flame, to)};

    window.kind = kind_between(sides, window.from, window.to, next);
    if (window.kind == SIDES_BOTH)
        return;
    vector_reserve_one(&sides->windows, sides->window_count, sizeof window);
    sides->windows[sides->window_count++] = window;
}

static void find_windows(struct flame *flame)
{
    struct sides *sides = flame->sides;
    const double *inside = sides->inside;
    size_t next = 0, last = sides->inside_count - 1;
    double edge = EDGE_PERIODS * sides->period;

    put_window(flame, -INFINITY, inside[0] - edge, &next);
    for (size_t i = 1; i <= last; ++i)
        if (!sides->whole[i] &&
            inside[i] - inside[i - 1] > GAP_PERIODS * sides->period)
            put_window(flame, inside[i - 1], inside[i], &next);
    put_window(flame, inside[last] + edge, (double)flame->end + 1, &next);
}

/* ---- all of it */

void sides_add(struct flame *flame, struct view *inside, struct view *outside,
               struct exits *exits)
{
    static struct sides sides;

    flame->sides = &sides;
    sides_find_clock(flame, inside, outside);
    flame_add(flame, inside, FLAME_NEW, exits);
    flame_add(flame, outside, FLAME_BASE, exits);
    find_windows(flame);
}

void sides_free(struct sides *sides)
{
    align_free(&sides->align);
    free(sides->samples);
    free(sides->windows);
    free(sides->inside);
    free(sides->whole);
    *sides = (struct sides){0};
}
