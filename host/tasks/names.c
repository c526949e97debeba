/* SPDX-License-Identifier: Apache-2.0 */
/* Names that the guest defines, and words for what has none. */

#include "base/memory.h"
#include "tasks/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tasks_use_name(struct tasks *tasks, uint32_t name)
{
    while (tasks->used_name_count <= name && name < GUEST_NAMES) {
        vector_reserve_one(&tasks->used_names, tasks->used_name_count, 1);
        tasks->used_names[tasks->used_name_count++] = 0;
    }
    if (name < GUEST_NAMES)
        tasks->used_names[name] = 1;
}

/* A reader that has all packets has all names. */
void tasks_check_names(struct tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->loss_count; ++i) {
        if (tasks->losses[i].packets > 0)
            return;
    }
    for (size_t i = 0; i < tasks->cpu_count; ++i) {
        if (tasks->cpus[i].late)
            return;
    }
    for (uint32_t i = 1; i < tasks->used_name_count; ++i) {
        if (tasks->used_names[i] != 0 &&
            *guest_names_text(&tasks->names, i) == '\0')
            tasks_problem(tasks, TASKS_NO_NAME, i, 0);
    }
}

const char *tasks_kind_word(uint8_t kind)
{
    static const char *const words[] = {
#define PROF_OBJECT(NAME, name, number, meaning) [number] = #name,
#include <prof/events.def>
    };

    return kind < sizeof words / sizeof words[0] && words[kind] != NULL
               ? words[kind]
               : "object";
}

const char *tasks_state_word(uint8_t state)
{
    static const char *const words[TASKS_STATES] = {
        "pending", "running", "paused", "waiting", "ready", "ended", "unknown"};

    return state < TASKS_STATES ? words[state] : "unknown";
}

const char *tasks_end_word(uint8_t ending)
{
    static const char *const words[] = {"open",      "resolved", "failed",
                                        "cancelled", "gone",     "became",
                                        "ended",     "unknown"};

    return ending < sizeof words / sizeof words[0] ? words[ending] : "ended";
}

const char *tasks_edge_word(uint8_t kind)
{
    static const char *const words[TASKS_EDGES] = {
        "create", "read",   "try_read", "resolve", "fail",
        "cancel", "signal", "wake",     "become",  "defer"};

    return kind < TASKS_EDGES ? words[kind] : "unknown";
}

const char *tasks_title(const struct tasks *tasks, uint32_t object, char *text)
{
    const struct tasks_object *found;
    const char *name;

    if (object < TASKS_NONE && (object & TASKS_INTERRUPT) != 0) {
        snprintf(text, TASKS_TEXT_MAX, "irq %u",
                 (unsigned)tasks->irqs[object & ~TASKS_INTERRUPT].vector);
        return text;
    }
    if (object == TASKS_LOOP || object >= tasks_objects(tasks) ||
        object == TASKS_NOBODY) {
        snprintf(text, TASKS_TEXT_MAX, "%s",
                 object == TASKS_LOOP ? "[event loop]" : "[unknown]");
        return text;
    }
    found = &tasks->objects[object];
    name = guest_names_text(&tasks->names, found->label);
    if (*name == '\0')
        name = guest_names_text(&tasks->names, found->site);
    if (*name == '\0')
        name = tasks_kind_word(found->kind);
    snprintf(text, TASKS_TEXT_MAX, "%.300s %u", name, (unsigned)found->id);
    return text;
}
