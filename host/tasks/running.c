/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who runs on a CPU: switches, interrupts, and what is lost.
 *
 * An object that switches to another one without being suspended has started
 * it, and goes on where that one returns, is suspended or ends: it is paused.
 * Paused objects form a stack for each CPU. A switch to one of them takes off
 * those above it, which should be none.
 */

#include "base/memory.h"
#include "tasks/parts.h"

uint32_t tasks_actor(const struct tasks *tasks, const struct tasks_cpu *cpu)
{
    (void)tasks;
    return cpu->irq_count > 0 ? TASKS_INTERRUPT | cpu->irqs[cpu->irq_count - 1]
                              : cpu->current;
}

static bool is_nested(const struct tasks_cpu *cpu, uint32_t object)
{
    for (uint32_t i = 0; i < cpu->nested_count; ++i) {
        if (cpu->nested[i] == object)
            return true;
    }
    return false;
}

/* Takes objects off the stack up to (to), which is there. */
static void unwind(struct tasks *tasks, struct tasks_cpu *cpu, uint32_t to)
{
    uint32_t top;

    while ((top = cpu->nested[--cpu->nested_count]) != to) {
        struct tasks_object *skipped = &tasks->objects[top];

        if (top < TASKS_SPECIAL)
            continue;
        if (skipped->ending == TASKS_OPEN)
            tasks_problem(tasks, TASKS_NOT_NESTED, skipped->id,
                          tasks->objects[to].id);
        tasks_set_state(tasks, top,
                        skipped->ending == TASKS_OPEN ? TASKS_PENDING
                                                      : TASKS_ENDED);
    }
}

/* Puts the current object on the stack; beyond its end nesting is unknown. */
static void nest(struct tasks *tasks, struct tasks_cpu *cpu)
{
    if (cpu->nested_count == TASKS_NESTED_MAX) {
        ++tasks->unkept;
        cpu->nested_count = 0;
    }
    cpu->nested[cpu->nested_count++] = cpu->current;
    if (cpu->current == TASKS_LOOP)
        tasks_set_state(tasks, TASKS_LOOP, TASKS_PENDING);
    else
        tasks_set_state(tasks, cpu->current, TASKS_PAUSED);
}

/* The current object stops running because of a switch to (to). */
static void leave(struct tasks *tasks, struct tasks_cpu *cpu, uint32_t to)
{
    const struct tasks_object *object = &tasks->objects[cpu->current];
    bool returns = is_nested(cpu, to);

    if (cpu->current != TASKS_NOBODY && !cpu->left && !returns)
        nest(tasks, cpu);
    else if (object->ending != TASKS_OPEN)
        tasks_set_state(tasks, cpu->current, TASKS_ENDED);
    else if (object->state == TASKS_RUNNING)
        tasks_set_state(tasks, cpu->current, TASKS_PENDING);
    if (returns)
        unwind(tasks, cpu, to);
}

void tasks_switch(struct tasks *tasks, struct tasks_cpu *cpu, uint32_t to)
{
    struct tasks_object *object = &tasks->objects[to];

    if (to == cpu->current && (cpu->fresh || !cpu->left))
        return; /* repeated for readers that do not know it */
    if (cpu->irq_count > 0)
        tasks_problem(tasks, TASKS_IRQ_SWITCH, object->id, 0);
    if (object->ending != TASKS_OPEN)
        tasks_problem(tasks, TASKS_RUNS_ENDED, object->id, object->ending);
    tasks_is_there(tasks, to);
    cpu->idle = false;
    leave(tasks, cpu, to);
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
    tasks_set_waiting(tasks, cpu->current, why, stack);
    if (cpu->current == TASKS_LOOP)
        cpu->idle = true;
    else
        cpu->left = true;
}

void tasks_irq_enter(struct tasks *tasks, struct tasks_cpu *cpu, uint8_t vector)
{
    struct tasks_irq irq = {
        .from = tasks->place.time,
        .to = TASKS_NEVER,
        .object = cpu->current,
        .cpu = cpu->cpu,
        .vector = vector,
        .depth = (uint8_t)cpu->irq_count,
    };

    if (cpu->irq_count == TASKS_NESTED_MAX ||
        !tasks_room(tasks, &tasks->irqs, tasks->irq_count, sizeof irq)) {
        ++tasks->unkept;
        return;
    }
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

/* Nothing is known any more of who runs on (cpu). */
static void forget(struct tasks *tasks, struct tasks_cpu *cpu)
{
    for (uint32_t i = 0; i < cpu->nested_count; ++i)
        tasks_set_state(tasks, cpu->nested[i], TASKS_UNKNOWN);
    if (tasks->objects[cpu->current].state == TASKS_RUNNING || cpu->idle)
        tasks_set_state(tasks, cpu->current, TASKS_UNKNOWN);
    for (uint32_t i = 0; i < cpu->irq_count; ++i)
        tasks->irqs[cpu->irqs[i]].to = cpu->time;
    cpu->current = TASKS_NOBODY;
    cpu->nested_count = cpu->irq_count = 0;
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
    forget(tasks, cpu);
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
