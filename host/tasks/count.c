/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether every loss is marked. The recorder says in each packet how many
 * events it has recorded (RECORDED), by their positions in its ring. So many
 * must have come, or be marked as lost. A SWITCH that repeats what is current
 * was not recorded: at the beginning of a packet, and after LOST and HISTORY.
 */

#include "base/checked.h"
#include "tasks/parts.h"

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
