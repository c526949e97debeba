/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of a trace on disk. */

#include "tasks/tasks.h"

#define NOWHERE SIZE_MAX

/* Places of a lane's CPU, which may move in memory; NOWHERE: its packet is not
 * taken. */
struct places {
    size_t tasks;
    size_t model;
};

struct readers {
    struct tasks *tasks;
    struct model *model; /* NULL: none */
    struct places places[TRACE_CPUS_MAX];
};

static bool take_head(void *owner, uint32_t lane, const struct packet *packet)
{
    struct readers *readers = owner;
    const struct tasks_cpu *tasks = tasks_begin_packet(readers->tasks, packet);
    const struct model_cpu *model = NULL;

    if (readers->model != NULL)
        model = model_begin_packet(readers->model, packet);
    readers->places[lane] = (struct places){
        tasks != NULL ? (size_t)(tasks - readers->tasks->cpus) : NOWHERE,
        model != NULL ? (size_t)(model - readers->model->cpus) : NOWHERE,
    };
    return tasks != NULL || model != NULL;
}

static void take_event(void *owner, uint32_t lane, const struct event *event)
{
    struct readers *readers = owner;
    const struct places *places = &readers->places[lane];

    if (places->model != NOWHERE)
        model_take_event(readers->model, &readers->model->cpus[places->model],
                         event);
    if (places->tasks != NOWHERE)
        tasks_take_event(readers->tasks, &readers->tasks->cpus[places->tasks],
                         event);
}

static void take_end(void *owner, uint32_t lane,
                     const struct event_reader *reader)
{
    struct readers *readers = owner;
    const struct places *places = &readers->places[lane];

    if (places->model != NOWHERE)
        model_end_packet(readers->model, event_all(reader));
    if (places->tasks != NOWHERE)
        tasks_end_packet(readers->tasks, &readers->tasks->cpus[places->tasks],
                         reader);
}

void tasks_read_with(struct tasks *tasks, struct model *model,
                     const struct trace *trace)
{
    struct readers readers = {.tasks = tasks, .model = model};

    trace_each_event(
        trace, &(struct event_sink){take_head, take_event, take_end, &readers});
    tasks_finish(tasks);
}

void tasks_read(struct tasks *tasks, const struct trace *trace)
{
    tasks_read_with(tasks, NULL, trace);
}
