/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be true of any program, or of any recorder that marks what it
 * loses. */

#include "base/memory.h"
#include "tasks/parts.h"

#include <stdio.h>

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
    vector_reserve_one(&tasks->problems, tasks->problem_count, sizeof problem);
    tasks->problems[tasks->problem_count++] = problem;
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
