/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of a trace on disk. */

#include "tasks/tasks.h"

struct readers {
    struct tasks *tasks;
    struct model *model; /* NULL: none */
};

static void take_packet(void *owner, const struct packet *packet)
{
    const struct readers *readers = owner;
    struct tasks_cpu *tasks = tasks_begin_packet(readers->tasks, packet);
    struct model_cpu *model = NULL;
    struct event_reader reader;
    struct event event;

    if (readers->model != NULL)
        model = model_begin_packet(readers->model, packet);
    if (tasks == NULL && model == NULL)
        return;
    event_begin(&reader, packet);
    while (event_next(&reader, &event)) {
        if (model != NULL)
            model_take_event(readers->model, model, &event);
        if (tasks != NULL)
            tasks_take_event(readers->tasks, tasks, &event);
    }
    if (model != NULL)
        model_end_packet(readers->model, event_all(&reader));
    if (tasks != NULL)
        tasks_end_packet(readers->tasks, tasks, &reader);
}

void tasks_read_with(struct tasks *tasks, struct model *model,
                     const struct trace *trace)
{
    struct readers readers = {tasks, model};

    trace_each(trace, &(struct packet_sink){take_packet, &readers});
    tasks_finish(tasks);
}

void tasks_read(struct tasks *tasks, const struct trace *trace)
{
    tasks_read_with(tasks, NULL, trace);
}
