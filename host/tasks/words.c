/* SPDX-License-Identifier: Apache-2.0 */
/* Names that the guest defines, what cannot be true of any program or recorder,
 * and what is missing, as texts. */

#include "base/memory.h"
#include "base/text.h"
#include "tasks/parts.h"
#include "trace/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tasks_use_name(struct tasks *tasks, uint32_t name)
{
    while (tasks->used_name_count <= name && name < GUEST_NAMES) {
        VECTOR_ADD(tasks->used_names, tasks->used_name_count, 0);
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
    if (tasks_is_late(tasks))
        return;
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
    if (tasks_is_loop(tasks, object)) {
        snprintf(text, TASKS_TEXT_MAX, "[event loop %u]",
                 (unsigned)(found->id - TASKS_LOOPS));
        return text;
    }
    name = guest_names_text(&tasks->names, found->label);
    if (*name == '\0')
        name = guest_names_text(&tasks->names, found->site);
    if (*name == '\0')
        name = tasks_kind_word(found->kind);
    snprintf(text, TASKS_TEXT_MAX, "%.300s %u", name, (unsigned)found->id);
    return text;
}

/* ---- problems */

void tasks_problem(struct tasks *tasks, enum tasks_problem_kind kind,
                   uint32_t object, uint32_t other)
{
    struct tasks_problem problem = {.place = tasks->place,
                                    .object = object,
                                    .other = other,
                                    .kind = (uint8_t)kind};

    ++tasks->problem_counts[kind];
    if (tasks->problem_count == TASKS_PROBLEMS_MAX)
        return;
    VECTOR_ADD(tasks->problems, tasks->problem_count, problem);
}

static const char *title_of(const struct tasks *tasks, uint32_t id, char *text)
{
    return tasks_title(tasks, tasks_object(tasks, id), text);
}

const char *tasks_problem_text(const struct tasks *tasks,
                               const struct tasks_problem *problem, char *text)
{
    static const char *const formats[TASKS_PROBLEM_KINDS] = {
        [TASKS_CREATED_TWICE] = "%s is created a second time",
        [TASKS_NEVER_CREATED] =
            "%s was never created, and no loss is marked in which it was",
        [TASKS_ENDED_TWICE] = "%s ends a second time: it was %s",
        [TASKS_READ_EARLY] = "%s is read before it is resolved",
        [TASKS_RUNS_ENDED] = "%s runs after its end: it was %s",
        [TASKS_NOT_NESTED] = "%s has not returned to %s, which runs again",
        [TASKS_IRQ_SWITCH] = "switch to %s inside an interrupt",
        [TASKS_IRQ_EXIT] = "interrupt %s ends that is not the innermost",
        [TASKS_TIME_BACK] = "the packet begins before the last event",
        [TASKS_TIME_BEYOND] = "the event is later than its packet's end",
        [TASKS_NO_NAME] = "name %s is used and never defined",
        [TASKS_NOT_READ] = "the rest of the packet cannot be read",
        [TASKS_NOT_MARKED] = "%s events are missing before, and not marked as "
                             "lost",
        [TASKS_TOO_MANY] = "before, there are %s events more than were "
                           "recorded",
    };
    char what[TASKS_TEXT_MAX], other[TASKS_TEXT_MAX];

    if (problem->kind == TASKS_IRQ_EXIT || problem->kind == TASKS_NO_NAME ||
        problem->kind == TASKS_NOT_MARKED || problem->kind == TASKS_TOO_MANY)
        snprintf(what, sizeof what, "%u", (unsigned)problem->object);
    else
        title_of(tasks, problem->object, what);
    if (problem->kind == TASKS_NOT_NESTED)
        title_of(tasks, problem->other, other);
    else
        snprintf(other, sizeof other, "%s",
                 tasks_end_word((uint8_t)problem->other));
    snprintf(text, TASKS_TEXT_MAX, formats[problem->kind], what, other);
    return text;
}

/* ---- what is missing */

struct missing {
    uint64_t before; /* events before the trace begins */
    uint64_t events;
    uint64_t packets;
    uint32_t overwritten; /* at once in the guest, at most */
    bool late;            /* the first packet is missing */
    bool unsure;          /* some of (events) are not known */
};

static const char *amount_text(uint64_t packets, uint64_t events, char *text,
                               size_t bytes)
{
    char some[NUMBER_TEXT_MAX], more[NUMBER_TEXT_MAX];

    if (packets > 0 && events > 0)
        snprintf(text, bytes, "%s packets with %s events",
                 number_count(packets, some), number_count(events, more));
    else if (packets > 0)
        snprintf(text, bytes, "%s packets", number_count(packets, some));
    else if (events > 0)
        snprintf(text, bytes, "%s events", number_count(events, more));
    else
        snprintf(text, bytes, "events, nobody knows how many");
    return text;
}

const char *tasks_loss_text(const struct tasks_loss *loss, char *text)
{
    return amount_text(loss->packets, loss->events, text, TASKS_TEXT_MAX);
}

static struct missing missing_of(const struct tasks *tasks)
{
    struct missing missing = {0};

    for (size_t i = 0; i < tasks->cpu_count; ++i) {
        missing.before += tasks->cpus[i].before;
        missing.late = missing.late || tasks->cpus[i].late;
    }
    for (uint32_t i = 0; i < tasks->loss_count; ++i) {
        missing.packets += tasks->losses[i].packets;
        missing.events += tasks->losses[i].events;
        if (tasks->losses[i].packets == 0 &&
            tasks->losses[i].events > missing.overwritten)
            missing.overwritten = tasks->losses[i].events;
        missing.unsure = missing.unsure || tasks->losses[i].events == 0;
    }
    return missing;
}

bool tasks_missing_text(const struct tasks *tasks, char *text)
{
    const struct missing missing = missing_of(tasks);
    char lost[TASKS_TEXT_MAX / 2], before[NUMBER_TEXT_MAX];
    size_t used = 0;

    *text = '\0';
    if (missing.before > 0)
        used = (size_t)snprintf(text, TASKS_TEXT_MAX,
                                "the trace begins after %s events",
                                number_count(missing.before, before));
    else if (missing.late)
        used = (size_t)snprintf(text, TASKS_TEXT_MAX,
                                "the trace has no beginning");
    if (tasks->loss_count > 0)
        used += (size_t)snprintf(
            text + used, TASKS_TEXT_MAX - used,
            "%s%s%s are missing, in %u place%s", used > 0 ? "; " : "",
            missing.unsure && missing.events > 0 ? "at least " : "",
            amount_text(missing.packets, missing.events, lost, sizeof lost),
            (unsigned)tasks->loss_count, tasks->loss_count == 1 ? "" : "s");
    if (missing.overwritten > 0)
        snprintf(text + used, TASKS_TEXT_MAX - used,
                 "; prof.trace_kb=%u keeps what the guest overwrote",
                 model_trace_kib(missing.overwritten));
    return *text != '\0';
}
