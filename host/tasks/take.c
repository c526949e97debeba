/* SPDX-License-Identifier: Apache-2.0 */
/* Packets and their events, one after the other. */

#include "base/memory.h"
#include "tasks/parts.h"

#include <stdlib.h>

bool tasks_room(struct tasks *tasks, void *vector, uint32_t count, size_t bytes)
{
    if (count >= TASKS_RECORDS_MAX) {
        ++tasks->unkept;
        return false;
    }
    vector_reserve_one(vector, count, bytes);
    return true;
}

/* From then on (object) is ready: that is its delay. */
static void take_defer(struct tasks *tasks, struct tasks_cpu *cpu,
                       uint32_t object)
{
    tasks_edge(tasks, cpu, TASKS_DEFER, object, TASKS_NONE);
    if (object >= TASKS_SPECIAL)
        tasks_set_ready(tasks, object, TASKS_NONE);
}

/* Who runs; false if (event) does not say that. */
static bool take_run(struct tasks *tasks, struct tasks_cpu *cpu,
                     const struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_SWITCH:
        tasks_switch(tasks, cpu, tasks_mention(tasks, event->as_switch.task));
        return true;
    case PROF_EVENT_SUSPEND:
        tasks_suspend(tasks, cpu, event->as_suspend.why, 0);
        return true;
    case PROF_EVENT_SUSPEND_STACK:
        tasks_suspend(tasks, cpu, event->as_suspend_stack.why,
                      PROF_SUSPEND_NODE(event->as_suspend_stack.stack, 0));
        return true;
    case PROF_EVENT_IRQ_ENTER:
        tasks_irq_enter(tasks, cpu, event->as_irq_enter.vector);
        return true;
    case PROF_EVENT_IRQ_EXIT:
        tasks_irq_exit(tasks, cpu, event->as_irq_exit.vector);
        return true;
    case PROF_EVENT_DEFER:
        take_defer(tasks, cpu, tasks_mention(tasks, event->as_defer.object));
        return true;
    default:
        return false;
    }
}

/* What is known besides. */
static void take_rest(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_ALIVE:
        tasks_alive(tasks, cpu, &event->as_alive);
        break;
    case PROF_EVENT_LOST:
        tasks_mark_lost(tasks, cpu, event->as_lost.events);
        tasks_count_lost(cpu, event->as_lost.events);
        break;
    case PROF_EVENT_HISTORY:
        tasks_count_dump(tasks, cpu);
        break;
    case PROF_EVENT_RECORDED:
        tasks_take_recorded(tasks, cpu, event->as_recorded.events);
        break;
    default:
        guest_names_take(&tasks->names, event);
        break;
    }
}

/* Whether an object does something. */
static bool is_act(const struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_CREATE:
    case PROF_EVENT_READ:
    case PROF_EVENT_TRY_READ:
    case PROF_EVENT_AWAIT:
    case PROF_EVENT_RESOLVE:
    case PROF_EVENT_FAIL:
    case PROF_EVENT_CANCEL:
    case PROF_EVENT_GONE:
    case PROF_EVENT_BECOME:
    case PROF_EVENT_SIGNAL:
    case PROF_EVENT_WAKE:
    case PROF_EVENT_COUNTER:
    case PROF_EVENT_LABEL:
    case PROF_EVENT_PAUSE:
    case PROF_EVENT_SEND:
    case PROF_EVENT_RECEIVE:
        return true;
    default:
        return false;
    }
}

/* Whether (event) is in the recorder's ring: what is not has no time of its
 * own. */
static bool is_recorded(const struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_SWITCH:
    case PROF_EVENT_SUSPEND:
    case PROF_EVENT_SUSPEND_STACK:
    case PROF_EVENT_IRQ_ENTER:
    case PROF_EVENT_IRQ_EXIT:
    case PROF_EVENT_DEFER:
        return true;
    default:
        return is_act(event);
    }
}

/* Whether (event) says that the loop is not idle any more, if no interrupt did
 * it. A switch to the current object at the beginning of a packet says nothing:
 * it is there for readers that missed the packet before. */
static bool ends_idleness(const struct tasks_cpu *cpu,
                          const struct event *event)
{
    return event->kind == PROF_EVENT_SWITCH
               ? !cpu->fresh
               : is_act(event) && cpu->irq_count == 0;
}

/* After a LOST: who is current from the next event on. */
static bool take_resumed(struct tasks *tasks, struct tasks_cpu *cpu,
                         const struct event *event)
{
    if (cpu->marked == TASKS_NONE || event->kind != PROF_EVENT_SWITCH ||
        !(cpu->repeats || cpu->fresh))
        return false;
    cpu->resumed = tasks_mention(tasks, event->as_switch.task);
    tasks_count_event(cpu, event);
    cpu->fresh = false;
    ++tasks->events;
    return true;
}

static void take_event(struct tasks *tasks, struct tasks_cpu *cpu,
                       const struct event *event)
{
    if (take_resumed(tasks, cpu, event))
        return;
    if (is_recorded(event))
        tasks_resume(tasks, cpu, event->time);
    if (cpu->idle && ends_idleness(cpu, event)) {
        cpu->idle = false;
        tasks_set_state(tasks, TASKS_LOOP, TASKS_RUNNING);
    }
    if (tasks_act(tasks, cpu, event) || take_run(tasks, cpu, event)) {
        tasks_count_event(cpu, event);
        cpu->fresh = false;
        cpu->acted = event->time;
        ++tasks->events;
    } else {
        take_rest(tasks, cpu, event);
    }
}

/* ---- packets */

/* NULL if there is no room for it. */
static struct tasks_cpu *cpu_of(struct tasks *tasks, uint16_t number)
{
    for (size_t i = 0; i < tasks->cpu_count; ++i) {
        if (tasks->cpus[i].cpu == number)
            return &tasks->cpus[i];
    }
    if (tasks->cpu_count == TASKS_CPUS_MAX)
        return NULL;
    vector_reserve_one(&tasks->cpus, tasks->cpu_count, sizeof *tasks->cpus);
    tasks->cpus[tasks->cpu_count] = (struct tasks_cpu){.cpu = number,
                                                       .current = TASKS_NOBODY,
                                                       .unsure = true,
                                                       .marked = TASKS_NONE,
                                                       .resumed = TASKS_NONE,
                                                       .gap = TASKS_NONE};
    return &tasks->cpus[tasks->cpu_count++];
}

/* The head of a packet, and what is missing before it. */
static void take_head(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct packet *packet)
{
    tasks->place = (struct tasks_place){
        .time = packet->begin, .packet = packet->sequence, .cpu = packet->cpu};
    tasks_mention(tasks, 0);
    if (tasks->end == 0 || packet->begin < tasks->begin)
        tasks->begin = packet->begin;
    if (packet->end > tasks->end)
        tasks->end = packet->end;
    if (cpu->begun && packet->begin < cpu->time)
        tasks_problem(tasks, TASKS_TIME_BACK, 0, 0);
    if (cpu->begun && packet->sequence > cpu->next_sequence) {
        tasks_lose(tasks, cpu, 0, packet->sequence - cpu->next_sequence);
        tasks_count_packets(tasks, cpu);
    }
    if (!cpu->begun)
        cpu->late = packet->sequence > 0;
    if (!cpu->begun)
        cpu->acted = packet->begin;
    cpu->begun = cpu->fresh = true;
    cpu->next_sequence = packet->sequence + 1;
}

void tasks_take(struct tasks *tasks, const struct packet *packet)
{
    struct tasks_cpu *cpu = cpu_of(tasks, packet->cpu);
    struct event_reader reader;
    struct event event;
    bool beyond = false;

    if (cpu == NULL || packet->version != PROF_FORMAT_VERSION) {
        ++tasks->unkept;
        return;
    }
    take_head(tasks, cpu, packet);
    event_begin(&reader, packet);
    while (event_next(&reader, &event)) {
        tasks->place.time = event.time;
        ++tasks->place.event;
        if (event.time > packet->end && !beyond)
            tasks_problem(tasks, TASKS_TIME_BEYOND, 0, 0);
        beyond = event.time > packet->end;
        take_event(tasks, cpu, &event);
        cpu->time = event.time;
    }
    if (reader.at != reader.end)
        tasks_problem(tasks, TASKS_NOT_READ, 0, 0);
    if (reader.at != reader.end || reader.passed_over)
        cpu->counts = false;
}

/* Whether the object (number) exists at the end of the trace is not known: the
 * last that is known is that it was there before a loss, or not even that. */
static void finish_unseen(struct tasks *tasks, uint32_t number)
{
    struct tasks_object *object = &tasks->objects[number];
    const struct tasks_loss *loss = tasks_lost_since(tasks, object);

    object->ending = TASKS_UNSEEN;
    object->end = object->since;
    if (object->was_there && loss != NULL && loss->from > object->since)
        object->end = loss->from;
    tasks->place.time = object->end;
    tasks_set_state(tasks, number, TASKS_UNKNOWN);
    tasks->place.time = tasks->end;
}

/* Closes its last stretch. */
static void finish_object(struct tasks *tasks, uint32_t number)
{
    struct tasks_object *object = &tasks->objects[number];

    if (object->end == TASKS_NEVER && object->was_ended) {
        object->ending = TASKS_LOST;
        object->end = object->begin;
    } else if (number >= TASKS_SPECIAL && object->ending == TASKS_OPEN &&
               (!object->was_there ||
                tasks_lost_since(tasks, object) != NULL)) {
        finish_unseen(tasks, number);
    } else if (object->since < tasks->end) {
        tasks_set_state(tasks, number, (enum tasks_state)object->state);
    }
}

void tasks_finish(struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->cpu_count; ++i)
        tasks_resume(tasks, &tasks->cpus[i], tasks->end);
    tasks->place.time = tasks->end;
    for (uint32_t i = 0; i < tasks_objects(tasks); ++i)
        finish_object(tasks, i);
    tasks_check_names(tasks);
}

void tasks_free(struct tasks *tasks)
{
    free(tasks->objects);
    index_free(&tasks->ids);
    free(tasks->stretches);
    free(tasks->edges);
    free(tasks->labels);
    free(tasks->counters);
    free(tasks->pauses);
    free(tasks->irqs);
    free(tasks->losses);
    free(tasks->messages);
    free(tasks->problems);
    guest_names_free(&tasks->names);
    free(tasks->used_names);
    free(tasks->cpus);
    *tasks = (struct tasks){0};
}
