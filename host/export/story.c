/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The story of objects.
 *
 * Running stretches and edges are both in the order of time, so one walk over
 * both finds the arrows: what may become one is remembered with the object that
 * it leads to, until that runs or is read.
 */

#include "export/story.h"

#include "base/memory.h"
#include "tasks/interrupts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX /* a lane */

/* Where arrows to an object begin. */
struct waiting {
    struct story_point run; /* to its next run */
    struct story_point result;
    uint8_t run_kind; /* enum tasks_edge_kind */
    uint8_t result_kind;
};

struct story {
    const struct view *view;
    const struct tasks *tasks;
    const struct story_sink *sink;
    struct waiting *waiting; /* by object */
    struct index lanes;      /* that have names */
    struct story_span all;   /* the time range, in clocks since boot */
    uint32_t *chain;         /* stretches of one object */
    size_t chain_room;
};

/* Cuts [from, to) to the time range; false if nothing is left. */
static bool cut_span(const struct story *story, uint64_t from, uint64_t to,
                     struct story_span *span)
{
    uint64_t begin = story->tasks->begin;

    if (to <= story->all.from || from >= story->all.to)
        return false;
    from = from > story->all.from ? from : story->all.from;
    to = to < story->all.to ? to : story->all.to;
    *span = (struct story_span){from - begin, to - begin};
    return true;
}

static bool is_inside(const struct story *story, uint64_t time)
{
    return time >= story->all.from && time < story->all.to;
}

static void name_lane(struct story *story, uint32_t lane)
{
    static const char *const rows[] = {"tasks", "interrupts", "lost", "pauses",
                                       "event loop"};
    char name[64];
    bool is_new;

    index_add(&story->lanes, lane, &is_new);
    if (!is_new)
        return;
    snprintf(name, sizeof name, "%s [cpu %u]", rows[lane % STORY_ROWS],
             (unsigned)(lane / STORY_ROWS));
    story->sink->lane(story->sink->owner, lane, name);
}

static void put_slice(struct story *story, uint32_t lane, uint64_t from,
                      uint64_t to, const char *name)
{
    struct story_span span;

    if (!cut_span(story, from, to, &span))
        return;
    name_lane(story, lane);
    story->sink->slice(story->sink->owner, lane, span, name);
}

/* ---- arrows */

/* Where (actor) did (edge). */
static struct story_point point_of(const struct story *story,
                                   const struct tasks_edge *edge)
{
    const uint32_t actor = edge->from;
    struct story_point point = {NOWHERE, edge->time};

    if ((actor & TASKS_INTERRUPT) != 0 && actor < TASKS_NONE)
        point.lane = story_lane(
            story->tasks->irqs[actor & ~TASKS_INTERRUPT].cpu, STORY_IRQS);
    else if (actor != TASKS_NOBODY && actor < tasks_objects(story->tasks))
        point.lane = story_lane(edge->cpu, STORY_RUNS);
    return point;
}

static void put_arrow(struct story *story, const struct story_point *from,
                      struct story_point to, uint8_t kind)
{
    uint64_t begin = story->tasks->begin;
    struct story_point start = *from;

    if (start.lane == NOWHERE || to.lane == NOWHERE ||
        !is_inside(story, start.time) || !is_inside(story, to.time))
        return;
    start.time -= begin;
    to.time -= begin;
    story->sink->arrow(story->sink->owner, start, to, tasks_edge_word(kind));
}

static void take_edge(struct story *story, const struct tasks_edge *edge)
{
    struct story_point here = point_of(story, edge);
    struct waiting *to = &story->waiting[edge->to];

    switch (edge->kind) {
    case TASKS_CREATE:
    case TASKS_WAKE:
        to->run = here;
        to->run_kind = edge->kind;
        break;
    case TASKS_DEFER: /* put_defers() */
        to->run.lane = NOWHERE;
        break;
    case TASKS_RESOLVE:
    case TASKS_FAIL:
    case TASKS_CANCEL:
        to->result = here;
        to->result_kind = edge->kind;
        break;
    case TASKS_READ:
        to = &story->waiting[tasks_became(story->tasks, edge->to)];
        put_arrow(story, &to->result, here, to->result_kind);
        break;
    default:
        break;
    }
}

static void take_run(struct story *story, const struct tasks_stretch *run)
{
    char name[TASKS_TEXT_MAX];
    uint32_t lane = story_lane(run->cpu, STORY_RUNS);
    struct waiting *waiting = &story->waiting[run->object];

    put_slice(story, lane, run->from, run->to,
              tasks_title(story->tasks, run->object, name));
    put_arrow(story, &waiting->run, (struct story_point){lane, run->from},
              waiting->run_kind);
    waiting->run.lane = NOWHERE;
}

static void put_runs(struct story *story)
{
    const struct tasks *tasks = story->tasks;
    uint32_t edge = 0;

    for (uint32_t i = 0; i < tasks->stretch_count; ++i) {
        const struct tasks_stretch *run = &tasks->stretches[i];

        if (run->state != TASKS_RUNNING)
            continue;
        for (; edge < tasks->edge_count && tasks->edges[edge].time <= run->from;
             ++edge)
            take_edge(story, &tasks->edges[edge]);
        take_run(story, run);
    }
    for (; edge < tasks->edge_count; ++edge)
        take_edge(story, &tasks->edges[edge]);
}

/* From each interrupt to the run that does what it left; one may do that of
 * several. */
static void put_defers(struct story *story)
{
    const struct tasks *tasks = story->tasks;
    struct tasks_served *served = tasks_served(tasks);

    for (uint32_t i = 0; i < tasks->irq_count; ++i) {
        const struct story_point from = {
            story_lane(tasks->irqs[i].cpu, STORY_IRQS), served[i].left};
        const struct story_point to = {story_lane(served[i].cpu, STORY_RUNS),
                                       served[i].ran};

        if (served[i].ran != TASKS_NEVER)
            put_arrow(story, &from, to, TASKS_DEFER);
    }
    free(served);
}

/* ---- the event loop */

/* The first interrupt from (irq) on that ended idleness at (time) or later. */
static uint32_t next_waker(const struct tasks *tasks, uint32_t irq,
                           uint64_t time)
{
    while (irq < tasks->irq_count &&
           (tasks->irqs[irq].woke == 0 || tasks->irqs[irq].woke < time))
        ++irq;
    return irq;
}

/* Idleness and what ended it. Stretches of the loop and interrupts are both in
 * the order of time. */
static void put_loop(struct story *story)
{
    const struct tasks *tasks = story->tasks;
    uint32_t irq = 0;

    for (uint32_t i = 0; i < tasks->stretch_count; ++i) {
        const struct tasks_stretch *one = &tasks->stretches[i];
        uint32_t lane = story_lane(one->cpu, STORY_LOOP);

        if (!tasks_is_loop(tasks, one->object) ||
            (one->state != TASKS_RUNNING && one->state != TASKS_WAITING))
            continue;
        put_slice(story, lane, one->from, one->to,
                  one->state == TASKS_RUNNING ? "running" : "idle");
        if (one->state != TASKS_RUNNING)
            continue;
        irq = next_waker(tasks, irq, one->from);
        if (irq < tasks->irq_count && tasks->irqs[irq].woke == one->from)
            put_arrow(story,
                      &(const struct story_point){
                          story_lane(tasks->irqs[irq].cpu, STORY_IRQS),
                          tasks->irqs[irq].from},
                      (struct story_point){lane, one->from}, TASKS_WAKE);
    }
}

/* ---- objects */

static uint64_t end_of(const struct tasks *tasks, uint64_t end)
{
    return end == TASKS_NEVER ? tasks->end : end;
}

/* The stretches of (object), the first one first. */
static size_t collect_stretches(struct story *story,
                                const struct tasks_object *object)
{
    size_t count = 0;

    for (uint32_t i = object->stretches; i != TASKS_NONE;
         i = story->tasks->stretches[i].before) {
        VECTOR_ADD(story->chain, count, i);
    }
    return count;
}

static void put_state(struct story *story, const struct tasks_stretch *stretch)
{
    const struct guest_names *names = &story->tasks->names;
    const char *why = guest_names_text(names, stretch->why);
    struct story_span span;

    if (cut_span(story, stretch->from, stretch->to, &span))
        story->sink->state(story->sink->owner, stretch->object, span,
                           stretch->state == TASKS_WAITING && *why != '\0'
                               ? why
                               : tasks_state_word(stretch->state));
}

static void put_object(struct story *story, uint32_t number)
{
    const struct tasks *tasks = story->tasks;
    const struct tasks_object *object = &tasks->objects[number];
    uint64_t to = end_of(tasks, object->end);
    size_t count = collect_stretches(story, object);
    char name[TASKS_TEXT_MAX];
    struct story_span span;

    if (count > 0 && tasks->stretches[story->chain[0]].to > to)
        to = tasks->stretches[story->chain[0]].to;
    if (!cut_span(story, object->begin, to, &span))
        return;
    story->sink->object(story->sink->owner, number, span,
                        tasks_title(tasks, number, name));
    while (count > 0)
        put_state(story, &tasks->stretches[story->chain[--count]]);
}

static void put_rest(struct story *story)
{
    const struct tasks *tasks = story->tasks;
    char name[TASKS_TEXT_MAX];

    for (uint32_t i = 0; i < tasks->irq_count; ++i)
        put_slice(story, story_lane(tasks->irqs[i].cpu, STORY_IRQS),
                  tasks->irqs[i].from, end_of(tasks, tasks->irqs[i].to),
                  tasks_title(tasks, TASKS_INTERRUPT | i, name));
    for (uint32_t i = 0; i < tasks->pause_count; ++i)
        put_slice(story, story_lane(tasks->pauses[i].cpu, STORY_PAUSES),
                  tasks->pauses[i].from, tasks->pauses[i].to,
                  guest_names_text(&tasks->names, tasks->pauses[i].why));
    for (uint32_t i = 0; i < tasks->loss_count; ++i)
        put_slice(story, story_lane(tasks->losses[i].cpu, STORY_LOSSES),
                  tasks->losses[i].from, tasks->losses[i].to, "lost");
    for (uint32_t i = 0; i < tasks->counter_count; ++i) {
        const struct tasks_counter *counter = &tasks->counters[i];

        if (is_inside(story, counter->time))
            story->sink->counter(story->sink->owner, counter->name,
                                 counter->time - tasks->begin, counter->value);
    }
}

void story_put(const struct view *view, const struct tasks *tasks,
               const struct story_sink *sink)
{
    uint32_t objects = tasks_objects(tasks);
    struct story story = {
        .view = view,
        .tasks = tasks,
        .sink = sink,
        .all = {view->model.from > tasks->begin ? view->model.from
                                                : tasks->begin,
                view->model.to > 0 ? view->model.to : tasks->end + 1},
    };

    if (tasks->events == 0 || view->has_include || view->has_exclude ||
        view->has_cpu || view->task != NULL)
        return;
    story.waiting = xreallocarray(NULL, objects, sizeof *story.waiting);
    memset(story.waiting, 0xff, objects * sizeof *story.waiting);
    put_rest(&story);
    put_runs(&story);
    put_defers(&story);
    put_loop(&story);
    for (uint32_t i = TASKS_SPECIAL; i < objects; ++i) {
        if (tasks_is_real(tasks, i))
            put_object(&story, i);
    }
    free(story.waiting);
    free(story.chain);
    index_free(&story.lanes);
}
