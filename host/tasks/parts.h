/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_PARTS_H
#define TASKS_PARTS_H

/* What the files of this room share. All is at tasks->place.time. */

#include "tasks/tasks.h"

/* The object with the guest's (id), made if new; TASKS_NOBODY: no room. */
uint32_t tasks_mention(struct tasks *tasks, uint32_t id);

/* Ends what (object) did and begins (state). */
void tasks_set_state(struct tasks *tasks, uint32_t object,
                     enum tasks_state state);

/* Whether the events of one CPU alone say what (object) does next: it runs
 * there, or has started another one; or it is that CPU's event loop, and has
 * run. */
bool tasks_is_held(const struct tasks *tasks, uint32_t object);

/* Begins TASKS_READY, because of (by). */
void tasks_set_ready(struct tasks *tasks, uint32_t object, uint32_t by);

/* CREATE, ALIVE, and every end. */
void tasks_create(struct tasks *tasks, uint32_t id, uint32_t creator,
                  uint8_t kind, uint16_t site);
void tasks_alive(struct tasks *tasks, const struct tasks_cpu *cpu,
                 const struct event_alive *alive);
void tasks_end(struct tasks *tasks, uint32_t object, enum tasks_end ending);

/* Who does what (cpu) reports: the current object or the interrupt. */
static inline uint32_t tasks_actor(const struct tasks_cpu *cpu)
{
    return cpu->irq_count > 0 ? TASKS_INTERRUPT | cpu->irqs[cpu->irq_count - 1]
                              : cpu->current;
}

/* Whether the first packet of a CPU is missing: not all is in the trace. */
bool tasks_is_late(const struct tasks *tasks);

/* The event loop of (cpu). */
uint32_t tasks_loop_of(struct tasks *tasks, struct tasks_cpu *cpu);

void tasks_switch(struct tasks *tasks, struct tasks_cpu *cpu, uint32_t to);
/* (stack) is a node, 0 = not recorded. */
void tasks_suspend(struct tasks *tasks, struct tasks_cpu *cpu, uint16_t why,
                   uint32_t stack);
void tasks_irq_enter(struct tasks *tasks, struct tasks_cpu *cpu,
                     uint8_t vector);
void tasks_irq_exit(struct tasks *tasks, struct tasks_cpu *cpu, uint8_t vector);

/* Events or packets are missing since the last event of (cpu). A loss that the
 * recorder marks ends at the next event, before which is tasks_resume(). */
void tasks_lose(struct tasks *tasks, struct tasks_cpu *cpu, uint32_t events,
                uint32_t packets);

void tasks_mark_lost(struct tasks *tasks, struct tasks_cpu *cpu,
                     uint32_t events);
void tasks_resume(struct tasks *tasks, struct tasks_cpu *cpu, uint64_t time);

/* What came is counted: an event of objects, a LOST, a HISTORY, a gap between
 * packets, which tasks_lose() has noted. RECORDED says what the sum should
 * be. */
void tasks_count_event(struct tasks_cpu *cpu, const struct event *event);
void tasks_count_lost(struct tasks_cpu *cpu, uint32_t events);
void tasks_count_dump(struct tasks *tasks, struct tasks_cpu *cpu);
void tasks_count_packets(struct tasks *tasks, struct tasks_cpu *cpu);
void tasks_take_recorded(struct tasks *tasks, struct tasks_cpu *cpu,
                         uint32_t events);

/* An event says that (object) has begun and not ended. */
void tasks_is_there(struct tasks *tasks, uint32_t object);

/* The first loss since (object) was known to be there; NULL: there is none. A
 * dump lists what exists when it is made, after all of its events: those that
 * it has lost say nothing of what it lists. In constant time, for a dump may
 * list as many objects as it has losses. */
static inline const struct tasks_loss *
tasks_lost_since(const struct tasks *tasks, const struct tasks_object *object)
{
    const struct tasks_loss *losses = tasks->losses;
    uint32_t i = object->known;

    if (i < tasks->loss_count && object->dump != 0 &&
        losses[i].dump == object->dump)
        i = losses[losses[i].first].after;
    return i < tasks->loss_count ? &losses[i] : NULL;
}

/* Notes that an event uses (name); finds names without a definition. */
void tasks_use_name(struct tasks *tasks, uint32_t name);
void tasks_check_names(struct tasks *tasks);

void tasks_problem(struct tasks *tasks, enum tasks_problem_kind kind,
                   uint32_t object, uint32_t other);

/* Room for one more of (count) records of (bytes) in *(vector); false, and one
 * more is counted in (unkept), if there are too many. */
bool tasks_room(struct tasks *tasks, void *vector, uint32_t count,
                size_t bytes);

#endif
