/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by site, and who waits for whom in the end. */

#include "tasks/sites.h"

#include "base/memory.h"

#include <prof/trace.h>
#include <stdlib.h>
#include <string.h>

static struct tasks_site *site_of(struct tasks_sites *sites,
                                  const struct tasks_object *object)
{
    struct tasks_site site = {.name = object->site, .kind = object->kind};
    uint32_t number =
        index_add_row(&sites->keys, index_pair(site.name, site.kind),
                      &sites->sites, &site, sizeof site);

    return &sites->sites[number];
}

/* What (rests) is pending, and nothing waits for it. */
static void add_object(struct tasks_sites *sites,
                       const struct tasks_object *object, bool rests)
{
    struct tasks_site *site = site_of(sites, object);

    ++site->objects;
    ++site->ends[object->ending];
    site->runs += object->runs;
    for (int i = 0; i < TASKS_STATES; ++i) {
        if (i != TASKS_PENDING || !rests)
            site->clocks[i] += object->clocks[i];
    }
    if (object->end != TASKS_NEVER)
        site->life += object->end - object->begin;
}

void tasks_sites_add(struct tasks_sites *sites, const struct tasks *tasks)
{
    uint32_t count;
    struct tasks_wait *waits = tasks_waits(tasks, &count);
    bool *waited_for = tasks_waited_for(tasks, waits, count);

    for (uint32_t i = TASKS_SPECIAL; i < tasks_objects(tasks); ++i) {
        if (tasks_is_real(tasks, i))
            add_object(sites, &tasks->objects[i],
                       tasks_rests(tasks, i, waited_for));
    }
    free(waits);
    free(waited_for);
    for (uint32_t i = 0; i < tasks->stretch_count; ++i) {
        const struct tasks_stretch *run = &tasks->stretches[i];
        struct tasks_site *site;

        if (run->state != TASKS_RUNNING || !tasks_is_real(tasks, run->object))
            continue;
        site = site_of(sites, &tasks->objects[run->object]);
        if (run->to - run->from > site->longest_run)
            site->longest_run = run->to - run->from;
    }
}

void tasks_sites_free(struct tasks_sites *sites)
{
    free(sites->sites);
    index_free(&sites->keys);
}

static int by_objects(const void *left, const void *right)
{
    const struct tasks_wait *a = left, *b = right;

    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return (a->other > b->other) - (a->other < b->other);
}

/* Whether (edge)'s object still waits; a mutex waits for its present owner. */
static bool still_waits(const struct tasks *tasks,
                        const struct tasks_edge *edge)
{
    const struct tasks_object *object;

    if (edge->kind != TASKS_TRY_READ || (edge->from & TASKS_INTERRUPT) ||
        !tasks_is_open(tasks, edge->from))
        return false;
    object = &tasks->objects[edge->from];
    return object->kind != PROF_TRACE_MUTEX || object->awaits == edge->to;
}

struct tasks_wait *tasks_waits(const struct tasks *tasks, uint32_t *count)
{
    struct tasks_wait *waits = NULL;
    uint32_t all = 0, kept = 0;

    for (uint32_t i = 0; i < tasks->edge_count; ++i) {
        const struct tasks_edge *edge = &tasks->edges[i];
        uint32_t other = tasks_became(tasks, edge->to);

        if (!still_waits(tasks, edge) || !tasks_is_open(tasks, other))
            continue;
        VECTOR_ADD(waits, all, (struct tasks_wait){edge->from, other});
    }
    if (all > 0)
        qsort(waits, all, sizeof *waits, by_objects);
    for (uint32_t i = 0; i < all; ++i) {
        if (kept == 0 || by_objects(&waits[kept - 1], &waits[i]) != 0)
            waits[kept++] = waits[i];
    }
    *count = kept;
    return waits;
}

bool *tasks_waited_for(const struct tasks *tasks,
                       const struct tasks_wait *waits, uint32_t count)
{
    bool *waited_for = xreallocarray(NULL, tasks_objects(tasks) + 1, 1);

    memset(waited_for, 0, tasks_objects(tasks) + 1);
    for (uint32_t i = 0; i < count; ++i)
        waited_for[waits[i].other] = true;
    return waited_for;
}

/* What lasts as long as the program, without anything being wrong. */
static bool is_resource(uint8_t kind)
{
    return kind == PROF_TRACE_MUTEX || kind == PROF_TRACE_SEMAPHORE ||
           kind == PROF_TRACE_CONDITION || kind == PROF_TRACE_MAILBOX ||
           kind == PROF_TRACE_CONNECTION || kind == PROF_TRACE_CALLBACK;
}

bool tasks_rests(const struct tasks *tasks, uint32_t number,
                 const bool *waited_for)
{
    const struct tasks_object *object = &tasks->objects[number];

    return tasks_is_open(tasks, number) && is_resource(object->kind) &&
           !waited_for[number] &&
           (object->state == TASKS_PENDING || object->state == TASKS_WAITING ||
            object->state == TASKS_UNKNOWN);
}

bool *tasks_resting(const struct tasks *tasks)
{
    uint32_t count;
    struct tasks_wait *waits = tasks_waits(tasks, &count);
    bool *waited_for = tasks_waited_for(tasks, waits, count);
    bool *rests = xreallocarray(NULL, tasks_objects(tasks) + 1, sizeof *rests);

    for (uint32_t i = 0; i < tasks_objects(tasks); ++i)
        rests[i] = tasks_rests(tasks, i, waited_for);
    free(waits);
    free(waited_for);
    return rests;
}
