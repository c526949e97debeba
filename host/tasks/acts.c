/* SPDX-License-Identifier: Apache-2.0 */
/* What objects and interrupts do to objects. */

#include "tasks/parts.h"

#include <prof/trace.h>

void tasks_edge(struct tasks *tasks, const struct tasks_cpu *cpu,
                enum tasks_edge_kind kind, uint32_t to, uint32_t by)
{
    struct tasks_edge edge = {.time = tasks->place.time,
                              .from = tasks_actor(tasks, cpu),
                              .to = to,
                              .by = by,
                              .kind = (uint8_t)kind};

    if (tasks_room(tasks, &tasks->edges, tasks->edge_count, sizeof edge))
        tasks->edges[tasks->edge_count++] = edge;
}

static void take_create(struct tasks *tasks, struct tasks_cpu *cpu,
                        const struct event_create *create)
{
    uint32_t actor = tasks_actor(tasks, cpu);

    tasks_create(tasks, create->object, actor, create->object_kind,
                 create->site);
    tasks_edge(tasks, cpu, TASKS_CREATE, tasks_mention(tasks, create->object),
               TASKS_NONE);
}

/* Whether the end of such an object has a result. */
static bool has_result(const struct tasks_object *object)
{
    return object->kind != PROF_TRACE_MUTEX &&
           object->kind != PROF_TRACE_CONDITION &&
           object->kind != PROF_TRACE_MAILBOX &&
           object->kind != PROF_TRACE_CONNECTION;
}

/* (number) is read or freed: its end was in a loss since the last event that
 * mentioned it. */
static void end_unseen(struct tasks *tasks, uint32_t number)
{
    struct tasks_object *object = &tasks->objects[number];

    object->ending = TASKS_LOST;
    object->end = tasks->place.time;
    if (object->state == TASKS_PENDING)
        tasks_set_state(tasks, number, TASKS_UNKNOWN);
    tasks_set_state(tasks, number, TASKS_ENDED);
}

static void take_read(struct tasks *tasks, struct tasks_cpu *cpu, uint32_t id)
{
    uint32_t named = tasks_object(tasks, id);
    uint32_t found = named == TASKS_NONE ? named : tasks_became(tasks, named);
    const struct tasks_object *object =
        found == TASKS_NONE ? NULL : &tasks->objects[found];

    if (object != NULL && named >= TASKS_SPECIAL && found >= TASKS_SPECIAL &&
        object->ending == TASKS_OPEN && object->created && !object->was_ended &&
        has_result(object)) {
        if (tasks_lost_since(tasks, object))
            end_unseen(tasks, found);
        else
            tasks_problem(tasks, TASKS_READ_EARLY, id, 0);
    }
    tasks_edge(tasks, cpu, TASKS_READ, tasks_mention(tasks, id), TASKS_NONE);
    if (object != NULL && !has_result(&tasks->objects[found]))
        tasks_is_there(tasks, found);
}

static void take_try_read(struct tasks *tasks, struct tasks_cpu *cpu,
                          uint32_t id)
{
    uint32_t source = tasks_mention(tasks, id);

    tasks_edge(tasks, cpu, TASKS_TRY_READ, source, TASKS_NONE);
    tasks_is_there(tasks, source);
    if (cpu->irq_count == 0 && cpu->current >= TASKS_SPECIAL)
        tasks->objects[cpu->current].awaits = source;
}

/* The same of an object that does not run, or does not run any more. */
static void take_await(struct tasks *tasks, const struct event_await *event)
{
    uint32_t object = tasks_mention(tasks, event->object);
    uint32_t source = tasks_mention(tasks, event->source);
    struct tasks_edge edge = {.time = tasks->place.time,
                              .from = object,
                              .to = source,
                              .by = TASKS_NONE,
                              .kind = TASKS_TRY_READ};

    tasks_is_there(tasks, object);
    tasks_is_there(tasks, source);
    if (object >= TASKS_SPECIAL)
        tasks->objects[object].awaits = source;
    if (tasks_room(tasks, &tasks->edges, tasks->edge_count, sizeof edge))
        tasks->edges[tasks->edge_count++] = edge;
}

static void take_end(struct tasks *tasks, struct tasks_cpu *cpu, uint32_t id,
                     enum tasks_end ending)
{
    static const uint8_t edges[] = {
        [TASKS_RESOLVED] = TASKS_RESOLVE,
        [TASKS_FAILED] = TASKS_FAIL,
        [TASKS_CANCELLED] = TASKS_CANCEL,
    };
    uint32_t object = tasks_mention(tasks, id);

    if (ending != TASKS_GONE)
        tasks_edge(tasks, cpu, edges[ending], object, TASKS_NONE);
    if (ending == TASKS_GONE && object >= TASKS_SPECIAL &&
        tasks->objects[object].ending == TASKS_OPEN &&
        tasks_lost_since(tasks, &tasks->objects[object]) != NULL)
        end_unseen(tasks, object);
    else
        tasks_end(tasks, object, ending);
    if (object == cpu->current && object >= TASKS_SPECIAL)
        cpu->left = true;
}

static void take_fail(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct event_fail *fail)
{
    uint32_t object = tasks_mention(tasks, fail->object);
    bool is_first = tasks->objects[object].ending == TASKS_OPEN;

    tasks_use_name(tasks, fail->why);
    take_end(tasks, cpu, fail->object, TASKS_FAILED);
    if (is_first)
        tasks->objects[object].why = fail->why;
}

static void take_become(struct tasks *tasks, struct tasks_cpu *cpu,
                        const struct event_become *become)
{
    uint32_t object = tasks_mention(tasks, become->object);
    uint32_t other = tasks_mention(tasks, become->other);

    tasks_edge(tasks, cpu, TASKS_BECOME, object, other);
    if (object >= TASKS_SPECIAL && other >= TASKS_SPECIAL && object != other &&
        tasks->objects[object].becomes == TASKS_NONE)
        tasks->objects[object].becomes = other;
    tasks_end(tasks, object, TASKS_BECAME);
}

static void take_signal(struct tasks *tasks, struct tasks_cpu *cpu,
                        const struct event_signal *event)
{
    uint32_t source = tasks_mention(tasks, event->source);

    tasks_edge(tasks, cpu, TASKS_SIGNAL, tasks_mention(tasks, event->object),
               source);
}

static void take_wake(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct event_wake *wake)
{
    uint32_t object = tasks_mention(tasks, wake->object);
    uint32_t by = tasks_mention(tasks, wake->by);

    tasks_edge(tasks, cpu, TASKS_WAKE, object, by);
    if (object >= TASKS_SPECIAL)
        tasks_set_ready(tasks, object, by);
}

static void take_label(struct tasks *tasks, const struct event_label *event)
{
    struct tasks_label label = {.time = tasks->place.time,
                                .object = tasks_mention(tasks, event->object),
                                .name = event->label};

    tasks_use_name(tasks, event->label);
    tasks->objects[label.object].label = event->label;
    if (tasks_room(tasks, &tasks->labels, tasks->label_count, sizeof label))
        tasks->labels[tasks->label_count++] = label;
}

static void take_counter(struct tasks *tasks, struct tasks_cpu *cpu,
                         const struct event_counter *event)
{
    struct tasks_counter counter = {.time = tasks->place.time,
                                    .value = event->value,
                                    .name = event->counter,
                                    .object = tasks_actor(tasks, cpu)};

    tasks_use_name(tasks, event->counter);
    if (tasks_room(tasks, &tasks->counters, tasks->counter_count,
                   sizeof counter))
        tasks->counters[tasks->counter_count++] = counter;
}

static void take_pause(struct tasks *tasks, const struct event_pause *event)
{
    uint64_t now = tasks->place.time;
    uint64_t clocks = event->clocks < now ? event->clocks : now;
    struct tasks_pause pause = {
        .from = now - clocks, .to = now, .why = event->why};

    tasks_use_name(tasks, event->why);
    if (tasks_room(tasks, &tasks->pauses, tasks->pause_count, sizeof pause))
        tasks->pauses[tasks->pause_count++] = pause;
}

static void take_message(struct tasks *tasks, const struct tasks_cpu *cpu,
                         uint32_t message, bool sent)
{
    struct tasks_message record = {.time = tasks->place.time,
                                   .message = message,
                                   .object = tasks_actor(tasks, cpu),
                                   .sent = sent};

    if (tasks_room(tasks, &tasks->messages, tasks->message_count,
                   sizeof record))
        tasks->messages[tasks->message_count++] = record;
}

bool tasks_act(struct tasks *tasks, struct tasks_cpu *cpu,
               const struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_CREATE:
        take_create(tasks, cpu, &event->as_create);
        return true;
    case PROF_EVENT_READ:
        take_read(tasks, cpu, event->as_read.source);
        return true;
    case PROF_EVENT_TRY_READ:
        take_try_read(tasks, cpu, event->as_try_read.source);
        return true;
    case PROF_EVENT_AWAIT:
        take_await(tasks, &event->as_await);
        return true;
    case PROF_EVENT_RESOLVE:
        take_end(tasks, cpu, event->as_resolve.object, TASKS_RESOLVED);
        return true;
    case PROF_EVENT_FAIL:
        take_fail(tasks, cpu, &event->as_fail);
        return true;
    case PROF_EVENT_CANCEL:
        take_end(tasks, cpu, event->as_cancel.object, TASKS_CANCELLED);
        return true;
    case PROF_EVENT_GONE:
        take_end(tasks, cpu, event->as_gone.object, TASKS_GONE);
        return true;
    case PROF_EVENT_BECOME:
        take_become(tasks, cpu, &event->as_become);
        return true;
    case PROF_EVENT_SIGNAL:
        take_signal(tasks, cpu, &event->as_signal);
        return true;
    case PROF_EVENT_WAKE:
        take_wake(tasks, cpu, &event->as_wake);
        return true;
    case PROF_EVENT_COUNTER:
        take_counter(tasks, cpu, &event->as_counter);
        return true;
    case PROF_EVENT_LABEL:
        take_label(tasks, &event->as_label);
        return true;
    case PROF_EVENT_PAUSE:
        take_pause(tasks, &event->as_pause);
        return true;
    case PROF_EVENT_SEND:
        take_message(tasks, cpu, event->as_send.message, true);
        return true;
    case PROF_EVENT_RECEIVE:
        take_message(tasks, cpu, event->as_receive.message, false);
        return true;
    default:
        return false;
    }
}
