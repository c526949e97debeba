/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts and what they led to.
 *
 * Running stretches and edges are both in the order of time, so one walk over
 * both finds when each object ran that work was left to. What several
 * interrupts have left to it since it ran last is a list, linked by edges.
 */

#include "tasks/interrupts.h"

#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void tasks_find_vectors(struct tasks_vectors *vectors,
                        const struct tasks *tasks, uint16_t cpu)
{
    bool there[TASKS_VECTORS] = {false};

    *vectors = (struct tasks_vectors){0};
    for (uint32_t i = 0; i < tasks->irq_count; ++i)
        if (cpu == TASKS_ANY_CPU || tasks->irqs[i].cpu == cpu)
            there[tasks->irqs[i].vector] = true;
    for (uint32_t i = 0; i < TASKS_VECTORS; ++i) {
        if (!there[i])
            continue;
        vectors->place[i] = (uint8_t)vectors->count;
        vectors->all[vectors->count++] = (uint8_t)i;
    }
}

bool tasks_is_irq(const struct tasks *tasks, uint32_t actor)
{
    return (actor & TASKS_INTERRUPT) != 0 && actor != TASKS_NONE &&
           (actor ^ TASKS_INTERRUPT) < tasks->irq_count;
}

/* ---- when the work ran that was left */

struct walk {
    const struct tasks *tasks;
    struct tasks_served *served;
    uint32_t *last;   /* of each interrupt, its last DEFER */
    uint32_t *first;  /* of each object, the DEFERs since it ran, as a list */
    uint32_t *behind; /* of each edge, the next one in that list */
};

static void take_defer(struct walk *walk, uint32_t number)
{
    const struct tasks_edge *edge = &walk->tasks->edges[number];
    uint32_t irq = edge->from ^ TASKS_INTERRUPT;

    if (edge->kind != TASKS_DEFER || !tasks_is_irq(walk->tasks, edge->from) ||
        edge->to < TASKS_SPECIAL || edge->to >= tasks_objects(walk->tasks))
        return;
    walk->served[irq] =
        (struct tasks_served){edge->to, edge->time, TASKS_NEVER, 0};
    walk->last[irq] = number;
    walk->behind[number] = walk->first[edge->to];
    walk->first[edge->to] = number;
}

static void take_run(struct walk *walk, const struct tasks_stretch *run)
{
    for (uint32_t i = walk->first[run->object]; i != TASKS_NONE;
         i = walk->behind[i]) {
        uint32_t irq = walk->tasks->edges[i].from ^ TASKS_INTERRUPT;

        if (walk->last[irq] != i)
            continue;
        walk->served[irq].ran = run->from;
        walk->served[irq].cpu = run->cpu;
    }
    walk->first[run->object] = TASKS_NONE;
}

static uint32_t *none_of(size_t count)
{
    uint32_t *list = xreallocarray(NULL, count + 1, sizeof *list);

    memset(list, 0xff, (count + 1) * sizeof *list); /* TASKS_NONE */
    return list;
}

struct tasks_served *tasks_served(const struct tasks *tasks)
{
    struct walk walk = {
        .tasks = tasks,
        .served = xreallocarray(NULL, (size_t)tasks->irq_count + 1,
                                sizeof *walk.served),
        .last = none_of(tasks->irq_count),
        .first = none_of(tasks_objects(tasks)),
        .behind = none_of(tasks->edge_count),
    };
    uint32_t edge = 0;

    for (uint32_t i = 0; i < tasks->irq_count; ++i)
        walk.served[i] =
            (struct tasks_served){TASKS_NONE, TASKS_NEVER, TASKS_NEVER, 0};
    for (uint32_t i = 0; i < tasks->stretch_count; ++i) {
        const struct tasks_stretch *run = &tasks->stretches[i];

        if (run->state != TASKS_RUNNING)
            continue;
        while (edge < tasks->edge_count && tasks->edges[edge].time <= run->from)
            take_defer(&walk, edge++);
        take_run(&walk, run);
    }
    while (edge < tasks->edge_count)
        take_defer(&walk, edge++);
    free(walk.last);
    free(walk.first);
    free(walk.behind);
    return walk.served;
}

/* ---- sums by vector */

static void add_delay(struct tasks_delays *delays, uint64_t from, uint64_t to)
{
    uint64_t clocks = checked_sub(to, from);

    vector_reserve_one(&delays->all, delays->count, sizeof *delays->all);
    delays->all[delays->count++] = clocks;
    delays->sum = checked_add(delays->sum, clocks);
}

static int by_size(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static void sort_delays(struct tasks_delays *delays)
{
    if (delays->count > 0)
        qsort(delays->all, delays->count, sizeof *delays->all, by_size);
}

static void add_irq(struct tasks_vector_sum *sum, const struct tasks_irq *irq,
                    const struct tasks_served *served)
{
    ++sum->irqs;
    sum->woke += irq->woke != 0;
    if (irq->to != TASKS_NEVER)
        add_delay(&sum->handled, irq->from, irq->to);
    if (served->object == TASKS_NONE)
        return;
    ++sum->left;
    sum->object = served->object;
    if (served->ran != TASKS_NEVER)
        add_delay(&sum->ran, irq->from, served->ran);
}

struct tasks_vector_sum *tasks_sum_vectors(const struct tasks *tasks,
                                           const struct tasks_vectors *vectors)
{
    struct tasks_vector_sum *sums =
        xreallocarray(NULL, vectors->count + 1, sizeof *sums);
    struct tasks_served *served = tasks_served(tasks);

    for (uint32_t i = 0; i < vectors->count; ++i)
        sums[i] = (struct tasks_vector_sum){.object = TASKS_NONE};
    for (uint32_t i = 0; i < tasks->irq_count; ++i)
        add_irq(&sums[vectors->place[tasks->irqs[i].vector]], &tasks->irqs[i],
                &served[i]);
    free(served);
    for (uint32_t i = 0; i < vectors->count; ++i) {
        sort_delays(&sums[i].handled);
        sort_delays(&sums[i].ran);
    }
    return sums;
}

void tasks_free_vector_sums(struct tasks_vector_sum *sums,
                            const struct tasks_vectors *vectors)
{
    for (uint32_t i = 0; i < vectors->count; ++i) {
        free(sums[i].handled.all);
        free(sums[i].ran.all);
    }
    free(sums);
}

uint64_t tasks_delay_at(const struct tasks_delays *delays, uint32_t thousandth)
{
    uint64_t rank = ((uint64_t)delays->count * thousandth + 999) / 1000;

    return delays->all[rank == 0 ? 0 : rank - 1];
}
