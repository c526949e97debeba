/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects and what they do from when to when, and who runs on a CPU: switches,
 * interrupts, and what is lost.
 *
 * A state that lasts across a loss is known until the loss begins. What comes
 * then is unknown until an event says it; only a promise that never runs, and
 * is mentioned later, is known to have been pending all the time. Of several
 * CPUs, each alone says what its event loop does, and when an object that it
 * runs stops: what others lose leaves that known. All else, such as a wake, may
 * be among what any of them has lost.
 *
 * An object that switches to another one without being suspended has started
 * it, and goes on where that one returns, is suspended or ends: it is paused.
 * Paused objects form a stack for each CPU. A switch to one of them takes off
 * those above it, which should be none.
 */

#include "base/checked.h"
#include "base/memory.h"
#include "tasks/parts.h"

#include <prof/trace.h>

/* Whether more than one CPU records. */
static bool tasks_has_cpus(const struct tasks *tasks)
{
    return tasks->loop_count > 0;
}

/* Whether an object of this number may exist without its creation. Each of
 * several CPUs has numbers of its own. */
static bool may_be_unseen(const struct tasks *tasks, uint32_t id)
{
    if (tasks_has_cpus(tasks))
        return tasks->loss_count > 0 || tasks_is_late(tasks);
    if (tasks->first_created == 0 || id < tasks->first_created)
        return true; /* it was there before the trace */
    return tasks->loss_count > 0 && id > tasks->created_before_loss;
}

static uint32_t add_object(struct tasks *tasks, uint32_t id)
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
        .cpu = tasks_cpu_number(tasks->place.cpu),
        .ran = tasks_cpu_number(tasks->place.cpu),
        .state = TASKS_UNKNOWN,
    };
    return number;
}

static void set_up(struct tasks *tasks)
{
    add_object(tasks, 0);
    add_object(tasks, UINT32_MAX);
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
    return add_object(tasks, id);
}

uint32_t tasks_mention(struct tasks *tasks, uint32_t id)
{
    bool is_new;
    uint32_t number = find_or_add(tasks, id, &is_new);

    if (number == INDEX_NONE)
        return TASKS_NOBODY;
    if (!is_new || may_be_unseen(tasks, id))
        return number;
    if (tasks_has_cpus(tasks))
        tasks->objects[number].suspect = true; /* it may still come */
    else
        tasks_problem(tasks, TASKS_NEVER_CREATED, id, 0);
    return number;
}

uint32_t tasks_loop_of(struct tasks *tasks, struct tasks_cpu *cpu)
{
    uint16_t number = tasks_cpu_number(cpu->cpu);
    bool is_new;

    if (cpu->loop != TASKS_NOBODY)
        return cpu->loop;
    cpu->loop = TASKS_LOOP;
    if (number != 0) {
        cpu->loop = find_or_add(tasks, TASKS_LOOPS + number, &is_new);
        if (cpu->loop == INDEX_NONE)
            return cpu->loop = TASKS_NOBODY;
        tasks->loop_count += is_new;
        if (is_new)
            tasks->objects[cpu->loop].state = TASKS_PENDING;
    }
    return cpu->loop;
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
    if (is_new || !tasks_has_cpus(tasks)) {
        object->begin = object->since = tasks->place.time;
        object->known_state = tasks->loss_count;
        object->state = TASKS_PENDING;
    } /* else another CPU has done something to it, by its clock, before */
    object->created = true;
    tasks_is_there(tasks, number);
    object->creator = creator;
    object->kind = kind;
    object->site = site;
    if (object->runs == 0)
        object->cpu = tasks_cpu_number(tasks->place.cpu);
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
    object->listed = true;
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
    if (object->early != 0 &&
        object->end - object->early > tasks->skew) /* by other clocks */
        tasks_problem(tasks, TASKS_READ_EARLY, object->id, 0);
    object->early = 0;
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
    stretch.cpu = (uint8_t)object->ran;
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

bool tasks_is_held(const struct tasks *tasks, uint32_t number)
{
    const struct tasks_object *object = &tasks->objects[number];

    return object->state == TASKS_RUNNING || object->state == TASKS_PAUSED ||
           (tasks_is_loop(tasks, number) && object->runs > 0);
}

/* Ends what (number) did, which is known until (known) if that is not later
 * than now, and begins (state). */
static void begin_state(struct tasks *tasks, uint32_t number,
                        enum tasks_state state, uint64_t known)
{
    struct tasks_object *object = &tasks->objects[number];

    known = known > object->since ? known : object->since;
    known = known < tasks->place.time ? known : tasks->place.time;
    put_stretch(tasks, number, object->since, known, object->state);
    put_stretch(tasks, number, known, tasks->place.time, TASKS_UNKNOWN);
    object->since = tasks->place.time;
    object->known_state = tasks->loss_count;
    object->state = (uint8_t)state;
}

void tasks_set_state(struct tasks *tasks, uint32_t number,
                     enum tasks_state state)
{
    const struct tasks_object *object = &tasks->objects[number];
    uint64_t known = tasks->place.time;

    if (number == TASKS_NOBODY)
        return;
    if (object->known_state < tasks->loss_count &&
        object->state != TASKS_ENDED && !tasks_is_held(tasks, number) &&
        !was_pending(object, state))
        known = tasks->losses[object->known_state].from;
    begin_state(tasks, number, state, known);
}

static void set_waiting(struct tasks *tasks, uint32_t number, uint16_t why,
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

/* ---- who runs */

static bool is_nested(const struct tasks_cpu *cpu, uint32_t object)
{
    for (uint32_t i = 0; i < cpu->nested_count; ++i) {
        if (cpu->nested[i] == object)
            return true;
    }
    return false;
}

/* Takes objects off the stack up to (to), which is there. */
static void unwind_nested(struct tasks *tasks, struct tasks_cpu *cpu,
                          uint32_t to)
{
    uint32_t top;

    while ((top = cpu->nested[--cpu->nested_count]) != to) {
        struct tasks_object *skipped = &tasks->objects[top];

        if (!tasks_is_real(tasks, top))
            continue;
        if (skipped->ending == TASKS_OPEN)
            tasks_problem(tasks, TASKS_NOT_NESTED, skipped->id,
                          tasks->objects[to].id);
        tasks_set_state(tasks, top,
                        skipped->ending == TASKS_OPEN ? TASKS_PENDING
                                                      : TASKS_ENDED);
    }
}

/* Whether only events of (cpu) can change what (number) does. */
static bool is_held_by(const struct tasks *tasks, const struct tasks_cpu *cpu,
                       uint32_t number)
{
    const struct tasks_object *object = &tasks->objects[number];

    return number != TASKS_NOBODY && tasks_is_held(tasks, number) &&
           (tasks_is_loop(tasks, number) ||
            object->ran == tasks_cpu_number(cpu->cpu));
}

/* From (known) on it is unknown what the objects on the stack do. */
static void forget_nested(struct tasks *tasks, struct tasks_cpu *cpu,
                          uint64_t known)
{
    for (uint32_t i = 0; i < cpu->nested_count; ++i) {
        if (is_held_by(tasks, cpu, cpu->nested[i]))
            begin_state(tasks, cpu->nested[i], TASKS_UNKNOWN, known);
    }
    cpu->nested_count = 0;
}

/* Puts the current object on the stack; beyond its end nesting is unknown. */
static void nest_current(struct tasks *tasks, struct tasks_cpu *cpu)
{
    if (cpu->nested_count == TASKS_NESTED_MAX) {
        ++tasks->unkept;
        forget_nested(tasks, cpu, tasks->place.time);
    }
    cpu->nested[cpu->nested_count++] = cpu->current;
    if (tasks_is_loop(tasks, cpu->current))
        tasks_set_state(tasks, cpu->current, TASKS_PENDING);
    else
        tasks_set_state(tasks, cpu->current, TASKS_PAUSED);
}

/* The current object stops running because of a switch to (to). */
static void leave_current(struct tasks *tasks, struct tasks_cpu *cpu,
                          uint32_t to)
{
    const struct tasks_object *object = &tasks->objects[cpu->current];
    bool returns = is_nested(cpu, to);

    if (object->state == TASKS_RUNNING && object->ending == TASKS_OPEN)
        tasks_is_there(tasks, cpu->current);
    if (cpu->current != TASKS_NOBODY && !cpu->left && !returns)
        nest_current(tasks, cpu);
    else if (object->ending != TASKS_OPEN)
        tasks_set_state(tasks, cpu->current, TASKS_ENDED);
    else if (object->state == TASKS_RUNNING)
        tasks_set_state(tasks, cpu->current, TASKS_PENDING);
    if (returns)
        unwind_nested(tasks, cpu, to);
}

/* (cpu) switches to (to), which runs on another CPU as far as is known. Where
 * no event of that one came since, its next packets may be missing, and with
 * them the time at which it left (to). */
static void leave_elsewhere(struct tasks *tasks, const struct tasks_cpu *cpu,
                            uint32_t to)
{
    uint32_t history = cpu->cpu & PROF_CPU_HISTORY;
    uint32_t other = tasks->objects[to].ran | history;

    if (is_held_by(tasks, cpu, to) || !tasks_is_held(tasks, to))
        return;
    for (size_t i = 0; i < tasks->cpu_count; ++i) {
        if (tasks->cpus[i].cpu == other &&
            tasks->cpus[i].packet_end < tasks->place.time)
            begin_state(tasks, to, TASKS_UNKNOWN, tasks->cpus[i].time);
    }
}

void tasks_switch(struct tasks *tasks, struct tasks_cpu *cpu, uint32_t to)
{
    struct tasks_object *object = &tasks->objects[to];

    if (to == cpu->current && (cpu->fresh || !cpu->left))
        return; /* repeated for readers that do not know it */
    if (cpu->irq_count > 0)
        tasks_problem(tasks, TASKS_IRQ_SWITCH, object->id, 0);
    if (object->ending != TASKS_OPEN &&
        tasks->place.time - object->end >= tasks->skew)
        tasks_problem(tasks, TASKS_RUNS_ENDED, object->id, object->ending);
    if (object->runs == 0)
        object->cpu = tasks_cpu_number(cpu->cpu);
    leave_elsewhere(tasks, cpu, to);
    object->ran = tasks_cpu_number(cpu->cpu);
    tasks_is_there(tasks, to);
    cpu->idle = false;
    leave_current(tasks, cpu, to);
    cpu->current = to;
    cpu->left = false;
    if (!cpu->fresh && !cpu->repeats)
        cpu->unsure = false;
    if (to == TASKS_NOBODY)
        return;
    tasks_set_state(tasks, to, TASKS_RUNNING);
    ++tasks->objects[to].runs;
}

void tasks_suspend(struct tasks *tasks, struct tasks_cpu *cpu, uint16_t why,
                   uint32_t stack)
{
    tasks_use_name(tasks, why);
    tasks->stacks += stack != 0;
    if (cpu->irq_count > 0 || cpu->current == TASKS_NOBODY)
        return;
    tasks_is_there(tasks, cpu->current);
    set_waiting(tasks, cpu->current, why, stack);
    if (tasks_is_loop(tasks, cpu->current)) {
        cpu->idle = true;
        cpu->waker = TASKS_NONE;
    } else {
        cpu->left = true;
    }
}

void tasks_irq_enter(struct tasks *tasks, struct tasks_cpu *cpu, uint8_t vector)
{
    struct tasks_irq irq = {
        .from = tasks->place.time,
        .to = TASKS_NEVER,
        .object = cpu->current,
        .cpu = tasks_cpu_number(cpu->cpu),
        .vector = vector,
        .depth = (uint8_t)cpu->irq_count,
    };

    if (cpu->irq_count == TASKS_NESTED_MAX ||
        !tasks_room(tasks, &tasks->irqs, tasks->irq_count, sizeof irq)) {
        ++tasks->unkept;
        return;
    }
    if (cpu->idle && cpu->waker == TASKS_NONE)
        cpu->waker = tasks->irq_count;
    cpu->irqs[cpu->irq_count++] = tasks->irq_count;
    tasks->irqs[tasks->irq_count++] = irq;
}

void tasks_irq_exit(struct tasks *tasks, struct tasks_cpu *cpu, uint8_t vector)
{
    uint32_t at = cpu->irq_count;

    while (at > 0 && tasks->irqs[cpu->irqs[at - 1]].vector != vector)
        --at;
    if (at == 0 && cpu->irq_count == 0 && cpu->unsure)
        return;
    if (at == 0 || at < cpu->irq_count)
        tasks_problem(tasks, TASKS_IRQ_EXIT, vector, 0);
    if (at == 0)
        return;
    cpu->irq_count = at - 1;
    tasks->irqs[cpu->irqs[at - 1]].to = tasks->place.time;
}

/* Nothing is known any more of who runs on (cpu), from (known) on. */
static void forget_running(struct tasks *tasks, struct tasks_cpu *cpu,
                           uint64_t known)
{
    uint32_t loop = tasks_cpu_number(cpu->cpu) == 0 ? TASKS_LOOP : cpu->loop;

    forget_nested(tasks, cpu, known);
    if (is_held_by(tasks, cpu, cpu->current))
        begin_state(tasks, cpu->current, TASKS_UNKNOWN, known);
    if (is_held_by(tasks, cpu, loop))
        begin_state(tasks, loop, TASKS_UNKNOWN, known);
    for (uint32_t i = 0; i < cpu->irq_count; ++i)
        tasks->irqs[cpu->irqs[i]].to = cpu->time;
    cpu->current = TASKS_NOBODY;
    cpu->irq_count = 0;
    cpu->left = cpu->idle = false;
    cpu->unsure = true;
}

/* (loss) is the last one. Those with the same dump in a row are linked. */
static void add_loss(struct tasks *tasks, const struct tasks_loss *loss)
{
    uint32_t number = tasks->loss_count++;
    struct tasks_loss *losses = tasks->losses;

    losses[number] = *loss;
    losses[number].first = number;
    if (number > 0 && losses[number - 1].dump == loss->dump)
        losses[number].first = losses[number - 1].first;
    losses[losses[number].first].after = number + 1;
}

void tasks_lose(struct tasks *tasks, struct tasks_cpu *cpu, uint32_t events,
                uint32_t packets)
{
    /* samples go on while events of objects are overwritten */
    struct tasks_loss loss = {.from = packets > 0 ? cpu->time : cpu->acted,
                              .to = tasks->place.time,
                              .events = events,
                              .packets = packets,
                              .dump = cpu->dump,
                              .cpu = cpu->cpu};

    if (tasks->loss_count == 0)
        tasks->created_before_loss = tasks->last_created;
    if (tasks_room(tasks, &tasks->losses, tasks->loss_count, sizeof loss))
        add_loss(tasks, &loss);
    forget_running(tasks, cpu, loss.from);
}

void tasks_mark_lost(struct tasks *tasks, struct tasks_cpu *cpu,
                     uint32_t events)
{
    uint32_t before = tasks->loss_count;

    tasks_lose(tasks, cpu, events, 0);
    if (tasks->loss_count > before && cpu->marked == TASKS_NONE)
        cpu->marked = before;
    cpu->resumed = TASKS_NONE;
}

/* The recorder gives a LOST, and the switch that says who is current after it,
 * the time of the event before. */
void tasks_resume(struct tasks *tasks, struct tasks_cpu *cpu, uint64_t time)
{
    if (cpu->marked == TASKS_NONE)
        return;
    tasks->place.time = time;
    for (uint32_t i = cpu->marked; i < tasks->loss_count; ++i) {
        if (tasks->losses[i].cpu == cpu->cpu)
            tasks->losses[i].to = time;
    }
    cpu->marked = TASKS_NONE;
    if (cpu->resumed != TASKS_NONE)
        tasks_switch(tasks, cpu, cpu->resumed);
    cpu->resumed = TASKS_NONE;
    cpu->unsure = true; /* it says nothing of interrupts */
}

/* ---- whether every loss is marked
 *
 * The recorder says in each packet how many
 * events it has recorded (RECORDED), by their positions in its ring. So many
 * must have come, or be marked as lost. A SWITCH that repeats what is current
 * was not recorded: at the beginning of a packet, and after LOST and HISTORY.
 */

void tasks_count_event(struct tasks_cpu *cpu, const struct event *event)
{
    bool repeats =
        event->kind == PROF_EVENT_SWITCH && (cpu->fresh || cpu->repeats);

    if (!repeats)
        ++cpu->recorded;
    else if (!cpu->fresh)
        cpu->repeats = false;
}

void tasks_count_lost(struct tasks_cpu *cpu, uint32_t events)
{
    cpu->recorded += events;
    cpu->counts = cpu->counts && events > 0;
    cpu->repeats = true;
}

void tasks_count_dump(struct tasks *tasks, struct tasks_cpu *cpu)
{
    cpu->repeats = true;
    cpu->dump = ++tasks->dumps;
}

void tasks_count_packets(struct tasks *tasks, struct tasks_cpu *cpu)
{
    cpu->gap = tasks->loss_count > 0 ? tasks->loss_count - 1 : TASKS_NONE;
    cpu->repeats = false;
}

void tasks_take_recorded(struct tasks *tasks, struct tasks_cpu *cpu,
                         uint32_t events)
{
    int32_t missing = (int32_t)(events - cpu->recorded);

    if (events == 0) {
        /* the beginning of a recording, or of a dump */
    } else if (!cpu->counts) {
        cpu->before = cpu->counted ? cpu->before : events;
    } else if (cpu->gap != TASKS_NONE) {
        tasks->losses[cpu->gap].events = (uint32_t)missing;
    } else if (missing > 0) {
        tasks_problem(tasks, TASKS_NOT_MARKED, (uint32_t)missing, 0);
    } else if (missing < 0) {
        tasks_problem(tasks, TASKS_TOO_MANY, (uint32_t)checked_size(missing),
                      0);
    }
    cpu->gap = TASKS_NONE;
    cpu->counts = cpu->counted = true;
    cpu->recorded = events;
}
