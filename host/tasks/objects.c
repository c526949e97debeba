/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects and what they do from when to when.
 *
 * A state that lasts across a loss is known until the loss begins. What comes
 * then is unknown until an event says it; only a promise that never runs, and
 * is mentioned later, is known to have been pending all the time.
 */

#include "base/memory.h"
#include "tasks/parts.h"

#include <prof/trace.h>

/* Whether an object of this number may exist without its creation. */
static bool may_be_unseen(const struct tasks *tasks, uint32_t id)
{
    if (tasks->first_created == 0 || id < tasks->first_created)
        return true; /* it was there before the trace */
    return tasks->loss_count > 0 && id > tasks->created_before_loss;
}

/* A new object. */
static uint32_t add(struct tasks *tasks, uint32_t id)
{
    uint32_t number = index_add(&tasks->ids, id, NULL);

    vector_reserve_one(&tasks->objects, number, sizeof *tasks->objects);
    tasks->objects[number] = (struct tasks_object){
        .begin = tasks->place.time,
        .end = TASKS_NEVER,
        .since = tasks->place.time,
        .known = tasks->loss_count,
        .known_state = tasks->loss_count,
        .id = id,
        .creator = TASKS_NOBODY,
        .becomes = TASKS_NONE,
        .awaits = TASKS_NONE,
        .stretches = TASKS_NONE,
        .state = TASKS_UNKNOWN,
    };
    return number;
}

static void set_up(struct tasks *tasks)
{
    add(tasks, 0);
    add(tasks, UINT32_MAX);
    tasks->objects[TASKS_LOOP].state = TASKS_PENDING;
}

/* INDEX_NONE if there is no room. */
static uint32_t find_or_add(struct tasks *tasks, uint32_t id, bool *is_new)
{
    uint32_t number;

    *is_new = false;
    if (tasks_objects(tasks) == 0)
        set_up(tasks);
    number = index_find(&tasks->ids, id);
    if (number != INDEX_NONE)
        return number;
    if (tasks_objects(tasks) >= TASKS_OBJECTS_MAX) {
        ++tasks->unkept;
        return INDEX_NONE;
    }
    *is_new = true;
    return add(tasks, id);
}

uint32_t tasks_mention(struct tasks *tasks, uint32_t id)
{
    bool is_new;
    uint32_t number = find_or_add(tasks, id, &is_new);

    if (number == INDEX_NONE)
        return TASKS_NOBODY;
    if (is_new && !may_be_unseen(tasks, id))
        tasks_problem(tasks, TASKS_NEVER_CREATED, id, 0);
    return number;
}

void tasks_is_there(struct tasks *tasks, uint32_t number)
{
    tasks->objects[number].known = tasks->loss_count;
    tasks->objects[number].was_there = true;
}

uint32_t tasks_object(const struct tasks *tasks, uint32_t id)
{
    return index_find(&tasks->ids, id);
}

void tasks_create(struct tasks *tasks, uint32_t id, uint32_t creator,
                  uint8_t kind, uint16_t site)
{
    bool is_new;
    uint32_t number = find_or_add(tasks, id, &is_new);
    struct tasks_object *object;

    if (number == INDEX_NONE || number < TASKS_SPECIAL)
        return;
    object = &tasks->objects[number];
    if (object->created) {
        tasks_problem(tasks, TASKS_CREATED_TWICE, id, 0);
        return;
    }
    object->begin = object->since = tasks->place.time;
    object->known_state = tasks->loss_count;
    object->created = true;
    tasks_is_there(tasks, number);
    object->creator = creator;
    object->kind = kind;
    object->site = site;
    object->state = TASKS_PENDING;
    tasks_use_name(tasks, site);
    if (tasks->first_created == 0 || id < tasks->first_created)
        tasks->first_created = id;
    if (id > tasks->last_created)
        tasks->last_created = id;
}

void tasks_alive(struct tasks *tasks, const struct tasks_cpu *cpu,
                 const struct event_alive *alive)
{
    bool is_new;
    uint32_t number = find_or_add(tasks, alive->object, &is_new);
    uint32_t creator = find_or_add(tasks, alive->creator, &is_new);
    struct tasks_object *object;

    if (number == INDEX_NONE || number < TASKS_SPECIAL)
        return;
    object = &tasks->objects[number];
    if (object->creator == TASKS_NOBODY && creator != INDEX_NONE &&
        creator != number)
        object->creator = creator;
    object->kind = alive->object_kind;
    object->site = object->site == 0 ? alive->site : object->site;
    object->label = object->label == 0 ? alive->label : object->label;
    object->was_ended = alive->ended != 0;
    object->dump = cpu->dump;
    if (alive->ended == 0)
        tasks_is_there(tasks, number);
    tasks_use_name(tasks, alive->site);
    tasks_use_name(tasks, alive->label);
}

void tasks_end(struct tasks *tasks, uint32_t number, enum tasks_end ending)
{
    struct tasks_object *object = &tasks->objects[number];

    if (number < TASKS_SPECIAL)
        return;
    if (object->ending == TASKS_LOST) {
        object->ending = (uint8_t)ending; /* it came late */
        return;
    }
    if (object->ending != TASKS_OPEN) {
        tasks_problem(tasks, TASKS_ENDED_TWICE, object->id, object->ending);
        return;
    }
    object->ending = (uint8_t)ending;
    object->end = tasks->place.time;
    if (object->state != TASKS_RUNNING && object->state != TASKS_PAUSED)
        tasks_set_state(tasks, number, TASKS_ENDED);
}

uint32_t tasks_became(const struct tasks *tasks, uint32_t object)
{
    /* those of a damaged stream may form a ring */
    for (uint32_t i = 0; i < tasks_objects(tasks); ++i) {
        if (tasks->objects[object].becomes == TASKS_NONE)
            break;
        object = tasks->objects[object].becomes;
    }
    return object;
}

/* ---- stretches */

/* Makes the last stretch of (object) longer, if (more) is the rest of it. */
static bool goes_on(struct tasks *tasks, const struct tasks_object *object,
                    const struct tasks_stretch *more)
{
    struct tasks_stretch *last;

    if (more->state != TASKS_UNKNOWN || object->stretches == TASKS_NONE)
        return false;
    last = &tasks->stretches[object->stretches];
    if (last->state != TASKS_UNKNOWN || last->to != more->from)
        return false;
    last->to = more->to;
    return true;
}

static void put_stretch(struct tasks *tasks, uint32_t number, uint64_t from,
                        uint64_t to, uint8_t state)
{
    struct tasks_object *object = &tasks->objects[number];
    struct tasks_stretch stretch = {.from = from,
                                    .to = to,
                                    .object = number,
                                    .before = object->stretches,
                                    .other = TASKS_NONE,
                                    .state = state};

    if (to <= from)
        return;
    object->clocks[state] += to - from;
    if (state == TASKS_PENDING || state == TASKS_ENDED)
        return;
    if (goes_on(tasks, object, &stretch))
        return;
    if (state == TASKS_WAITING) {
        stretch.why = object->why;
        stretch.stack = object->stack;
    }
    if (state == TASKS_WAITING || state == TASKS_READY)
        stretch.other = object->awaits;
    stretch.cpu = (uint8_t)tasks->place.cpu;
    if (!tasks_room(tasks, &tasks->stretches, tasks->stretch_count,
                    sizeof stretch))
        return;
    object->stretches = tasks->stretch_count;
    tasks->stretches[tasks->stretch_count++] = stretch;
}

/* Whether (object) has been pending until now, whatever was lost: it does not
 * run, and what it does now, (state), is known. */
static bool was_pending(const struct tasks_object *object,
                        enum tasks_state state)
{
    return object->state == TASKS_PENDING && object->runs == 0 &&
           state != TASKS_RUNNING && state != TASKS_UNKNOWN &&
           object->kind != PROF_TRACE_TASK &&
           object->kind != PROF_TRACE_CALLBACK;
}

void tasks_set_state(struct tasks *tasks, uint32_t number,
                     enum tasks_state state)
{
    struct tasks_object *object = &tasks->objects[number];
    uint64_t known = tasks->place.time;

    if (number == TASKS_NOBODY)
        return;
    if (object->known_state < tasks->loss_count &&
        object->state != TASKS_ENDED && !was_pending(object, state)) {
        const struct tasks_loss *loss = &tasks->losses[object->known_state];

        known = loss->from > object->since ? loss->from : object->since;
        known = known < tasks->place.time ? known : tasks->place.time;
    }
    put_stretch(tasks, number, object->since, known, object->state);
    put_stretch(tasks, number, known, tasks->place.time, TASKS_UNKNOWN);
    object->since = tasks->place.time;
    object->known_state = tasks->loss_count;
    object->state = (uint8_t)state;
}

void tasks_set_waiting(struct tasks *tasks, uint32_t number, uint16_t why,
                       uint32_t stack)
{
    tasks_set_state(tasks, number, TASKS_WAITING);
    tasks->objects[number].why = why;
    tasks->objects[number].stack = stack;
}

void tasks_set_ready(struct tasks *tasks, uint32_t number, uint32_t by)
{
    struct tasks_object *object = &tasks->objects[number];

    tasks_is_there(tasks, number);
    if (object->state == TASKS_RUNNING || object->state == TASKS_PAUSED ||
        object->state == TASKS_READY || object->ending != TASKS_OPEN)
        return;
    tasks_set_state(tasks, number, TASKS_READY);
    tasks->objects[number].awaits = by;
}

uint64_t tasks_standing_since(const struct tasks *tasks, uint32_t number)
{
    const struct tasks_object *object = &tasks->objects[number];
    const struct tasks_stretch *last;
    uint64_t since = object->begin;

    if (object->stretches != TASKS_NONE) {
        last = &tasks->stretches[object->stretches];
        since = last->state == object->state ? last->from : last->to;
    }
    /* events of a damaged packet may be later than its end */
    return since < tasks->end ? since : tasks->end;
}
