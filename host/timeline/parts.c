/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPUs of a trace have something to be drawn. */

#include "timeline/parts.h"

#include "base/memory.h"

#include <prof/format.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint16_t cpu_of_object(const struct tasks *tasks, uint32_t object)
{
    if (object == TASKS_LOOP)
        return 0;
    if (tasks_is_loop(tasks, object))
        return (uint16_t)(tasks->objects[object].id - TASKS_LOOPS);
    return tasks->objects[object].cpu;
}

#define MARK_CPUS(vector, count)                                               \
    for (size_t i = 0; i < (count); ++i)                                       \
    there[tasks_cpu_number((vector)[i].cpu)] = true

/* Sets (there) of each CPU that something is about. */
static void mark_cpus(const struct tasks *tasks, bool *there)
{
    for (size_t i = 0; i < tasks->cpu_count; ++i)
        if (tasks->cpus[i].loop != TASKS_NOBODY)
            there[tasks_cpu_number(tasks->cpus[i].cpu)] = true;
    for (uint32_t i = TASKS_SPECIAL; i < tasks_objects(tasks); ++i)
        there[tasks_cpu_number(cpu_of_object(tasks, i))] = true;
    MARK_CPUS(tasks->irqs, tasks->irq_count);
    MARK_CPUS(tasks->pauses, tasks->pause_count);
    MARK_CPUS(tasks->losses, tasks->loss_count);
    MARK_CPUS(tasks->stolen, tasks->stolen_count);
}

static void add_part(struct timeline_parts *parts, const struct tasks *tasks,
                     uint16_t cpu)
{
    struct timeline_part *part;

    vector_reserve_one(&parts->all, parts->count, sizeof *parts->all);
    part = &parts->all[parts->count++];
    part->cpu = cpu;
    part->loop = cpu == 0 ? TASKS_LOOP : tasks_object(tasks, TASKS_LOOPS + cpu);
    tasks_find_vectors(&part->vectors, tasks, cpu);
}

void parts_find(struct timeline_parts *parts, const struct tasks *tasks)
{
    bool *there = xreallocarray(NULL, PROF_CPU_HISTORY, sizeof *there);

    *parts = (struct timeline_parts){0};
    memset(there, 0, PROF_CPU_HISTORY * sizeof *there);
    mark_cpus(tasks, there);
    for (unsigned cpu = 0; cpu < PROF_CPU_HISTORY; ++cpu)
        if (there[cpu])
            add_part(parts, tasks, (uint16_t)cpu);
    if (parts->count == 0)
        add_part(parts, tasks, 0);
    free(there);
}

void parts_free(struct timeline_parts *parts)
{
    free(parts->all);
    *parts = (struct timeline_parts){0};
}

uint32_t parts_of_cpu(const struct timeline_parts *parts, uint16_t cpu)
{
    uint16_t number = tasks_cpu_number(cpu);
    uint32_t low = 0, high = parts->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (parts->all[middle].cpu < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < parts->count && parts->all[low].cpu == number ? low : 0;
}

uint32_t parts_of_object(const struct timeline_parts *parts,
                         const struct tasks *tasks, uint32_t object)
{
    return parts_of_cpu(parts, cpu_of_object(tasks, object));
}
