/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SCRIPT_OBJECTS_H
#define CLI_SCRIPT_OBJECTS_H

#include "tasks/tasks.h"
#include "trace/model.h"

#define SCRIPT_DETAIL_MAX (3 * TASKS_TEXT_MAX)

/* Writes what (event), one of objects, interrupts and counters, says to (text),
 * which has room for SCRIPT_DETAIL_MAX. False: it is no such event. */
bool script_detail(const struct tasks *tasks, const struct event *event,
                   char *text);

/* Who reports events on a CPU: an object, or the interrupts that have begun. */
struct script_actor {
    uint32_t cpu;
    uint32_t depth;
    uint8_t vectors[TASKS_NESTED_MAX];
};

/* Its name before (event), in (text) of TASKS_TEXT_MAX; then takes (event). */
void script_actor(struct script_actor *actor, const struct tasks *tasks,
                  const struct event *event, const struct model_cpu *cpu,
                  char *text);

#endif
