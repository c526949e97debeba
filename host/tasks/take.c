/* SPDX-License-Identifier: Apache-2.0 */
/* Packets and their events, in order: what is done to objects, and by whom. */

#include "base/checked.h"
#include "base/memory.h"
#include "tasks/parts.h"

#include <prof/trace.h>
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

/* Appends (record) to tasks->NAMEs. */
#define APPEND(name, record)                                                   \
    do {                                                                       \
        if (tasks_room(tasks, &tasks->name##s, tasks->name##_count,            \
                       sizeof *tasks->name##s))                                \
            tasks->name##s[tasks->name##_count++] = record;                    \
    } while (0)

/* ---- what objects do: each takes an event of its kind */

static void add_edge(struct tasks *tasks, uint32_t from,
                     enum tasks_edge_kind kind, uint32_t to, uint32_t by)
{
    struct tasks_edge edge = {.time = tasks->place.time,
                              .from = from,
                              .to = to,
                              .by = by,
                              .kind = (uint8_t)kind,
                              .cpu = (uint8_t)tasks->place.cpu};

    APPEND(edge, edge);
}

/* The actor of (cpu) does (kind) to (to); (by) may be TASKS_NONE. */
static void act_on(struct tasks *tasks, const struct tasks_cpu *cpu,
                   enum tasks_edge_kind kind, uint32_t to, uint32_t by)
{
    add_edge(tasks, tasks_actor(cpu), kind, to, by);
}

/* The object that (cpu) mentions; its 0 is its own event loop. */
static uint32_t mention_here(struct tasks *tasks, struct tasks_cpu *cpu,
                             uint32_t id)
{
    return id == 0 ? tasks_loop_of(tasks, cpu) : tasks_mention(tasks, id);
}

static void take_create(struct tasks *tasks, struct tasks_cpu *cpu,
                        const struct event *event)
{
    const struct event_create *create = &event->as_create;

    tasks_create(tasks, create->object, tasks_actor(cpu), create->object_kind,
                 create->site);
    act_on(tasks, cpu, TASKS_CREATE, tasks_mention(tasks, create->object),
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

/* (number) is read or freed: its end was in a loss since its last event. */
static void end_unseen(struct tasks *tasks, uint32_t number)
{
    struct tasks_object *object = &tasks->objects[number];

    object->ending = TASKS_LOST;
    object->end = tasks->place.time;
    if (object->state == TASKS_PENDING)
        tasks_set_state(tasks, number, TASKS_UNKNOWN);
    tasks_set_state(tasks, number, TASKS_ENDED);
}

static void take_read(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct event *event)
{
    uint32_t id = event->as_read.source;
    uint32_t named = tasks_object(tasks, id);
    uint32_t found = named == TASKS_NONE ? named : tasks_became(tasks, named);
    const struct tasks_object *object =
        found == TASKS_NONE ? NULL : &tasks->objects[found];

    if (object != NULL && named >= TASKS_SPECIAL && found >= TASKS_SPECIAL &&
        object->ending == TASKS_OPEN && object->created && !object->was_ended &&
        has_result(object)) {
        if (tasks_lost_since(tasks, object))
            end_unseen(tasks, found);
        else if (tasks->loop_count > 0) /* another CPU may end it */
            tasks->objects[found].early = tasks->place.time;
        else
            tasks_problem(tasks, TASKS_READ_EARLY, id, 0);
    }
    act_on(tasks, cpu, TASKS_READ, tasks_mention(tasks, id), TASKS_NONE);
    if (object != NULL && !has_result(&tasks->objects[found]))
        tasks_is_there(tasks, found);
}

static void take_try_read(struct tasks *tasks, struct tasks_cpu *cpu,
                          const struct event *event)
{
    uint32_t source = tasks_mention(tasks, event->as_try_read.source);

    act_on(tasks, cpu, TASKS_TRY_READ, source, TASKS_NONE);
    tasks_is_there(tasks, source);
    if (cpu->irq_count == 0 && cpu->current >= TASKS_SPECIAL)
        tasks->objects[cpu->current].awaits = source;
}

/* The same of an object that does not run, or does not run any more. */
static void take_await(struct tasks *tasks, struct tasks_cpu *cpu,
                       const struct event *event)
{
    uint32_t object = tasks_mention(tasks, event->as_await.object);
    uint32_t source = tasks_mention(tasks, event->as_await.source);

    (void)cpu;
    tasks_is_there(tasks, object);
    tasks_is_there(tasks, source);
    if (object >= TASKS_SPECIAL)
        tasks->objects[object].awaits = source;
    add_edge(tasks, object, TASKS_TRY_READ, source, TASKS_NONE);
}

static void end_object(struct tasks *tasks, struct tasks_cpu *cpu, uint32_t id,
                       enum tasks_end ending)
{
    static const uint8_t edges[] = {
        [TASKS_RESOLVED] = TASKS_RESOLVE,
        [TASKS_FAILED] = TASKS_FAIL,
        [TASKS_CANCELLED] = TASKS_CANCEL,
    };
    uint32_t object = tasks_mention(tasks, id);

    if (ending != TASKS_GONE)
        act_on(tasks, cpu, edges[ending], object, TASKS_NONE);
    if (ending == TASKS_GONE && object >= TASKS_SPECIAL &&
        tasks->objects[object].ending == TASKS_OPEN &&
        tasks_lost_since(tasks, &tasks->objects[object]) != NULL)
        end_unseen(tasks, object);
    else
        tasks_end(tasks, object, ending);
    if (object == cpu->current && object >= TASKS_SPECIAL)
        cpu->left = true;
}

/* The object is the first field of all these events. */
static void take_end(struct tasks *tasks, struct tasks_cpu *cpu,
                     const struct event *event)
{
    end_object(tasks, cpu, event->as_resolve.object,
               event->kind == PROF_EVENT_RESOLVE  ? TASKS_RESOLVED
               : event->kind == PROF_EVENT_CANCEL ? TASKS_CANCELLED
                                                  : TASKS_GONE);
}

static void take_fail(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct event *event)
{
    const struct event_fail *fail = &event->as_fail;
    uint32_t object = tasks_mention(tasks, fail->object);
    bool is_first = tasks->objects[object].ending == TASKS_OPEN;

    tasks_use_name(tasks, fail->why);
    end_object(tasks, cpu, fail->object, TASKS_FAILED);
    if (is_first)
        tasks->objects[object].why = fail->why;
}

static void take_become(struct tasks *tasks, struct tasks_cpu *cpu,
                        const struct event *event)
{
    uint32_t object = tasks_mention(tasks, event->as_become.object);
    uint32_t other = tasks_mention(tasks, event->as_become.other);

    act_on(tasks, cpu, TASKS_BECOME, object, other);
    if (object >= TASKS_SPECIAL && other >= TASKS_SPECIAL && object != other &&
        tasks->objects[object].becomes == TASKS_NONE)
        tasks->objects[object].becomes = other;
    tasks_end(tasks, object, TASKS_BECAME);
}

static void take_signal(struct tasks *tasks, struct tasks_cpu *cpu,
                        const struct event *event)
{
    uint32_t source = tasks_mention(tasks, event->as_signal.source);

    act_on(tasks, cpu, TASKS_SIGNAL,
           tasks_mention(tasks, event->as_signal.object), source);
}

static void take_wake(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct event *event)
{
    uint32_t object = tasks_mention(tasks, event->as_wake.object);
    uint32_t by = mention_here(tasks, cpu, event->as_wake.by);

    act_on(tasks, cpu, TASKS_WAKE, object, by);
    if (object >= TASKS_SPECIAL)
        tasks_set_ready(tasks, object, by);
}

/* From then on (object) is ready: that is its delay. */
static void take_defer(struct tasks *tasks, struct tasks_cpu *cpu,
                       const struct event *event)
{
    uint32_t object = tasks_mention(tasks, event->as_defer.object);

    act_on(tasks, cpu, TASKS_DEFER, object, TASKS_NONE);
    if (object >= TASKS_SPECIAL)
        tasks_set_ready(tasks, object, TASKS_NONE);
}

static void take_label(struct tasks *tasks, struct tasks_cpu *cpu,
                       const struct event *event)
{
    uint16_t name = event->as_label.label;
    struct tasks_label label = {
        .time = tasks->place.time,
        .object = tasks_mention(tasks, event->as_label.object),
        .name = name,
    };

    (void)cpu;
    tasks_use_name(tasks, name);
    tasks->objects[label.object].label = name;
    APPEND(label, label);
}

static void take_counter(struct tasks *tasks, struct tasks_cpu *cpu,
                         const struct event *event)
{
    struct tasks_counter counter = {.time = tasks->place.time,
                                    .value = event->as_counter.value,
                                    .name = event->as_counter.counter,
                                    .object = tasks_actor(cpu)};

    tasks_use_name(tasks, counter.name);
    APPEND(counter, counter);
}

static void take_pause(struct tasks *tasks, struct tasks_cpu *cpu,
                       const struct event *event)
{
    uint64_t now = tasks->place.time, clocks = event->as_pause.clocks;
    struct tasks_pause pause = {.from = checked_sub(now, clocks),
                                .to = now,
                                .why = event->as_pause.why,
                                .cpu = tasks_cpu_number(cpu->cpu)};

    tasks_use_name(tasks, pause.why);
    APPEND(pause, pause);
}

static void take_message(struct tasks *tasks, struct tasks_cpu *cpu,
                         const struct event *event)
{
    bool sent = event->kind == PROF_EVENT_SEND;
    struct tasks_message message = {.time = tasks->place.time,
                                    .message = sent ? event->as_send.message
                                                    : event->as_receive.message,
                                    .object = tasks_actor(cpu),
                                    .sent = sent};

    APPEND(message, message);
}

/* ---- who runs */

static void take_switch(struct tasks *tasks, struct tasks_cpu *cpu,
                        const struct event *event)
{
    tasks_switch(tasks, cpu, mention_here(tasks, cpu, event->as_switch.task));
}

static void take_suspend(struct tasks *tasks, struct tasks_cpu *cpu,
                         const struct event *event)
{
    tasks_suspend(tasks, cpu, event->as_suspend.why, 0);
}

static void take_suspend_stack(struct tasks *tasks, struct tasks_cpu *cpu,
                               const struct event *event)
{
    tasks_suspend(tasks, cpu, event->as_suspend_stack.why,
                  PROF_SUSPEND_NODE(event->as_suspend_stack.stack, 0));
}

static void take_irq_enter(struct tasks *tasks, struct tasks_cpu *cpu,
                           const struct event *event)
{
    tasks_irq_enter(tasks, cpu, event->as_irq_enter.vector);
}

static void take_irq_exit(struct tasks *tasks, struct tasks_cpu *cpu,
                          const struct event *event)
{
    tasks_irq_exit(tasks, cpu, event->as_irq_exit.vector);
}

/* ---- all events */

/* Those that are in the recorder's ring: others have no time of their own. */
static const struct {
    void (*take)(struct tasks *tasks, struct tasks_cpu *cpu,
                 const struct event *event);
    bool is_run; /* it says who runs, rather than what an object does */
} recorded[PROF_KINDS] = {
    [PROF_EVENT_CREATE] = {take_create, false},
    [PROF_EVENT_READ] = {take_read, false},
    [PROF_EVENT_TRY_READ] = {take_try_read, false},
    [PROF_EVENT_AWAIT] = {take_await, false},
    [PROF_EVENT_RESOLVE] = {take_end, false},
    [PROF_EVENT_FAIL] = {take_fail, false},
    [PROF_EVENT_CANCEL] = {take_end, false},
    [PROF_EVENT_GONE] = {take_end, false},
    [PROF_EVENT_BECOME] = {take_become, false},
    [PROF_EVENT_SIGNAL] = {take_signal, false},
    [PROF_EVENT_WAKE] = {take_wake, false},
    [PROF_EVENT_COUNTER] = {take_counter, false},
    [PROF_EVENT_LABEL] = {take_label, false},
    [PROF_EVENT_PAUSE] = {take_pause, false},
    [PROF_EVENT_SEND] = {take_message, false},
    [PROF_EVENT_RECEIVE] = {take_message, false},
    [PROF_EVENT_SWITCH] = {take_switch, true},
    [PROF_EVENT_SUSPEND] = {take_suspend, true},
    [PROF_EVENT_SUSPEND_STACK] = {take_suspend_stack, true},
    [PROF_EVENT_IRQ_ENTER] = {take_irq_enter, true},
    [PROF_EVENT_IRQ_EXIT] = {take_irq_exit, true},
    [PROF_EVENT_DEFER] = {take_defer, true},
};

static void take_stolen(struct tasks *tasks, const struct tasks_cpu *cpu,
                        uint64_t clocks)
{
    uint64_t now = tasks->place.time;
    struct tasks_stolen stolen = {.from = checked_sub(now, clocks),
                                  .to = now,
                                  .cpu = tasks_cpu_number(cpu->cpu)};

    if (tasks_room(tasks, &tasks->stolen, tasks->stolen_count, sizeof stolen))
        tasks->stolen[tasks->stolen_count++] = stolen;
}

/* Two CPUs' clocks differ by their errors together at most, and times are cut
 * to clocks. An unknown error says nothing. */
static void take_clock(struct tasks *tasks, struct tasks_cpu *cpu,
                       const struct event_cpu *event)
{
    uint64_t first = 0, second = 0, hz = tasks->tsc_hz;

    cpu->error = event->error;
    for (size_t i = 0; i < tasks->cpu_count; ++i) {
        uint64_t error = tasks->cpus[i].error;

        if (error > first) {
            second = first;
            first = error;
        } else if (error > second) {
            second = error;
        }
    }
    tasks->skew = 2;
    if (hz > 0)
        tasks->skew += (first + second) * PROF_CLOCK_HZ / hz;
}

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
    case PROF_EVENT_HELLO:
        tasks->unix_seconds = event->as_hello.unix_seconds;
        tasks->tsc_hz = event->as_hello.tsc_hz;
        break;
    case PROF_EVENT_CPU:
        take_clock(tasks, cpu, &event->as_cpu);
        break;
    case PROF_EVENT_STOLEN:
        take_stolen(tasks, cpu, event->as_stolen.clocks);
        break;
    default:
        guest_names_take(&tasks->names, event);
        break;
    }
}

/* Whether (event) ends the loop's idleness, if no interrupt did it. A repeated
 * switch at the beginning of a packet does not. */
static bool ends_idleness(const struct tasks_cpu *cpu,
                          const struct event *event)
{
    return event->kind == PROF_EVENT_SWITCH
               ? !cpu->fresh
               : recorded[event->kind].take != NULL &&
                     !recorded[event->kind].is_run && cpu->irq_count == 0;
}

/* Whatever interrupt comes first ends the halt in which the loop is idle. */
static void end_idleness(struct tasks *tasks, struct tasks_cpu *cpu)
{
    cpu->idle = false;
    tasks_set_state(tasks, tasks_loop_of(tasks, cpu), TASKS_RUNNING);
    if (cpu->waker != TASKS_NONE)
        tasks->irqs[cpu->waker].woke = tasks->place.time;
}

/* After a LOST: who is current from the next event on. */
static bool take_resumed(struct tasks *tasks, struct tasks_cpu *cpu,
                         const struct event *event)
{
    if (cpu->marked == TASKS_NONE || event->kind != PROF_EVENT_SWITCH ||
        !(cpu->repeats || cpu->fresh))
        return false;
    cpu->resumed = mention_here(tasks, cpu, event->as_switch.task);
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
    if (recorded[event->kind].take != NULL)
        tasks_resume(tasks, cpu, event->time);
    if (cpu->idle && ends_idleness(cpu, event))
        end_idleness(tasks, cpu);
    if (recorded[event->kind].take != NULL) {
        recorded[event->kind].take(tasks, cpu, event);
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
                                                       .loop = TASKS_NOBODY,
                                                       .current = TASKS_NOBODY,
                                                       .waker = TASKS_NONE,
                                                       .unsure = true,
                                                       .marked = TASKS_NONE,
                                                       .resumed = TASKS_NONE,
                                                       .gap = TASKS_NONE};
    return &tasks->cpus[tasks->cpu_count++];
}

static void take_head(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct packet *packet)
{
    enum packet_follows follows;
    uint32_t missing;

    tasks->place = (struct tasks_place){
        .time = packet->begin, .packet = packet->sequence, .cpu = packet->cpu};
    cpu->place = tasks->place;
    tasks_mention(tasks, 0);
    if (tasks->end == 0 || packet->begin < tasks->begin)
        tasks->begin = packet->begin;
    if (packet->end > tasks->end)
        tasks->end = packet->end;
    follows = packet_follow(&cpu->order, packet, &missing);
    if (follows != PACKET_FIRST && packet->begin < cpu->time)
        tasks_problem(tasks, TASKS_TIME_BACK, 0, 0);
    if (follows == PACKET_AFTER_GAP) {
        tasks_lose(tasks, cpu, 0, missing);
        tasks_count_packets(tasks, cpu);
    }
    if (follows == PACKET_FIRST) {
        cpu->late = packet->sequence > 0;
        cpu->acted = packet->begin;
    }
    cpu->fresh = true;
    cpu->beyond = false;
    cpu->packet_end = packet->end;
}

struct tasks_cpu *tasks_begin_packet(struct tasks *tasks,
                                     const struct packet *packet)
{
    struct tasks_cpu *cpu = cpu_of(tasks, packet->cpu);

    if (cpu == NULL || packet->version != PROF_FORMAT_VERSION) {
        ++tasks->unkept;
        return NULL;
    }
    take_head(tasks, cpu, packet);
    return cpu;
}

void tasks_take_event(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct event *event)
{
    bool beyond = event->time > cpu->packet_end;

    cpu->place.time = event->time;
    ++cpu->place.event;
    tasks->place = cpu->place;
    if (beyond && !cpu->beyond)
        tasks_problem(tasks, TASKS_TIME_BEYOND, 0, 0);
    cpu->beyond = beyond;
    take_event(tasks, cpu, event);
    cpu->time = event->time;
}

void tasks_end_packet(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct event_reader *reader)
{
    tasks->place = cpu->place;
    if (reader->at != reader->end)
        tasks_problem(tasks, TASKS_NOT_READ, 0, 0);
    cpu->counts = cpu->counts && event_all(reader);
}

void tasks_take(struct tasks *tasks, const struct packet *packet)
{
    struct tasks_cpu *cpu = tasks_begin_packet(tasks, packet);
    struct event_reader reader;
    struct event event;

    if (cpu == NULL)
        return;
    event_begin(&reader, packet);
    while (event_next(&reader, &event))
        tasks_take_event(tasks, cpu, &event);
    tasks_end_packet(tasks, cpu, &reader);
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

static void finish_object(struct tasks *tasks, uint32_t number)
{
    struct tasks_object *object = &tasks->objects[number];

    if (object->suspect && !object->created && !object->listed)
        tasks_problem(tasks, TASKS_NEVER_CREATED, object->id, 0);
    if (object->early != 0 && object->ending == TASKS_OPEN)
        tasks_problem(tasks, TASKS_READ_EARLY, object->id, 0);
    if (object->end == TASKS_NEVER && object->was_ended) {
        object->ending = TASKS_LOST;
        object->end = object->begin;
    } else if (tasks_is_real(tasks, number) && object->ending == TASKS_OPEN &&
               (!object->was_there || (!tasks_is_held(tasks, number) &&
                                       tasks_lost_since(tasks, object)))) {
        finish_unseen(tasks, number);
    } else if (object->since < tasks->end) {
        tasks_set_state(tasks, number, (enum tasks_state)object->state);
    }
}

bool tasks_is_late(const struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->cpu_count; ++i) {
        if (tasks->cpus[i].late)
            return true;
    }
    return false;
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
    free(tasks->stolen);
    free(tasks->problems);
    guest_names_free(&tasks->names);
    free(tasks->used_names);
    free(tasks->cpus);
    *tasks = (struct tasks){0};
}
