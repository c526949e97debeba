/* SPDX-License-Identifier: Apache-2.0 */
/* parasite script: what events of objects say, with their names. */

#include "cli/script_objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* An object by the guest's number. */
static const char *title(const struct tasks *tasks, uint32_t id, char *text)
{
    return tasks_title(tasks, tasks_object(tasks, id), text);
}

static const char *name(const struct tasks *tasks, uint32_t number)
{
    const char *text = guest_names_text(&tasks->names, number);

    return *text != '\0' ? text : "[unknown]";
}

static void two(const struct tasks *tasks, uint32_t one, const char *between,
                uint32_t other, char *text)
{
    char first[TASKS_TEXT_MAX], second[TASKS_TEXT_MAX];

    title(tasks, one, first);
    if (other == 0)
        snprintf(text, SCRIPT_DETAIL_MAX, "%s", first);
    else
        snprintf(text, SCRIPT_DETAIL_MAX, "%s%s%s", first, between,
                 title(tasks, other, second));
}

static void create(const struct tasks *tasks, uint32_t id, uint8_t kind,
                   uint32_t site, char *text)
{
    const char *file = guest_names_file(&tasks->names, site);
    char object[TASKS_TEXT_MAX];

    title(tasks, id, object);
    if (*file != '\0')
        snprintf(text, SCRIPT_DETAIL_MAX, "%s %s (%.250s:%u)",
                 tasks_kind_word(kind), object, file,
                 (unsigned)guest_names_line(&tasks->names, site));
    else
        snprintf(text, SCRIPT_DETAIL_MAX, "%s %s", tasks_kind_word(kind),
                 object);
}

/* Events about one object. */
static bool one_object(const struct tasks *tasks, const struct event *event,
                       char *text)
{
    uint32_t id;

    switch (event->kind) {
    case PROF_EVENT_SWITCH:
        id = event->as_switch.task;
        break;
    case PROF_EVENT_READ:
        id = event->as_read.source;
        break;
    case PROF_EVENT_TRY_READ:
        id = event->as_try_read.source;
        break;
    case PROF_EVENT_RESOLVE:
        id = event->as_resolve.object;
        break;
    case PROF_EVENT_CANCEL:
        id = event->as_cancel.object;
        break;
    case PROF_EVENT_GONE:
        id = event->as_gone.object;
        break;
    case PROF_EVENT_DEFER:
        id = event->as_defer.object;
        break;
    default:
        return false;
    }
    two(tasks, id, "", 0, text);
    return true;
}

/* Events about one or two objects. */
static bool objects(const struct tasks *tasks, const struct event *event,
                    char *text)
{
    switch (event->kind) {
    case PROF_EVENT_CREATE:
        create(tasks, event->as_create.object,
               (uint8_t)event->as_create.object_kind, event->as_create.site,
               text);
        return true;
    case PROF_EVENT_ALIVE:
        create(tasks, event->as_alive.object,
               (uint8_t)event->as_alive.object_kind, event->as_alive.site,
               text);
        return true;
    case PROF_EVENT_BECOME:
        two(tasks, event->as_become.object, " is ", event->as_become.other,
            text);
        return true;
    case PROF_EVENT_SIGNAL:
        two(tasks, event->as_signal.object, " by ", event->as_signal.source,
            text);
        return true;
    case PROF_EVENT_AWAIT:
        two(tasks, event->as_await.object, " for ", event->as_await.source,
            text);
        return true;
    case PROF_EVENT_WAKE:
        two(tasks, event->as_wake.object, " by ", event->as_wake.by, text);
        return true;
    default:
        return one_object(tasks, event, text);
    }
}

/* Events with a name. */
static bool named(const struct tasks *tasks, const struct event *event,
                  char *text)
{
    char object[TASKS_TEXT_MAX];
    size_t room = SCRIPT_DETAIL_MAX;

    switch (event->kind) {
    case PROF_EVENT_FAIL:
        snprintf(text, room, "%s: %s",
                 title(tasks, event->as_fail.object, object),
                 name(tasks, event->as_fail.why));
        return true;
    case PROF_EVENT_SUSPEND:
        snprintf(text, room, "%s", name(tasks, event->as_suspend.why));
        return true;
    case PROF_EVENT_SUSPEND_STACK:
        snprintf(text, room, "%s, stack %u",
                 name(tasks, event->as_suspend_stack.why),
                 (unsigned)event->as_suspend_stack.stack);
        return true;
    case PROF_EVENT_SEND:
    case PROF_EVENT_RECEIVE:
        snprintf(text, room, "message %08x", (unsigned)event->as_send.message);
        return true;
    case PROF_EVENT_COUNTER:
        snprintf(text, room, "%s = %" PRId64,
                 name(tasks, event->as_counter.counter),
                 (int64_t)event->as_counter.value);
        return true;
    case PROF_EVENT_LABEL:
        snprintf(text, room, "%s: %s",
                 title(tasks, event->as_label.object, object),
                 name(tasks, event->as_label.label));
        return true;
    case PROF_EVENT_PAUSE:
        snprintf(
            text, room, "%s, %" PRIu64 " ns", name(tasks, event->as_pause.why),
            (uint64_t)event->as_pause.clocks * (1000000000u / PROF_CLOCK_HZ));
        return true;
    default:
        return objects(tasks, event, text);
    }
}

bool script_detail(const struct tasks *tasks, const struct event *event,
                   char *text)
{
    switch (event->kind) {
    case PROF_EVENT_IRQ_ENTER:
        snprintf(text, SCRIPT_DETAIL_MAX, "%u",
                 (unsigned)event->as_irq_enter.vector);
        return true;
    case PROF_EVENT_IRQ_EXIT:
        snprintf(text, SCRIPT_DETAIL_MAX, "%u",
                 (unsigned)event->as_irq_exit.vector);
        return true;
    case PROF_EVENT_LOST:
        if (event->as_lost.events > 0)
            snprintf(text, SCRIPT_DETAIL_MAX, "%u events",
                     (unsigned)event->as_lost.events);
        else
            strcpy(text, "events");
        return true;
    case PROF_EVENT_RECORDED:
        snprintf(text, SCRIPT_DETAIL_MAX, "%u events",
                 (unsigned)event->as_recorded.events);
        return true;
    case PROF_EVENT_HISTORY:
        *text = '\0';
        return true;
    default:
        return named(tasks, event, text);
    }
}

void script_actor(struct script_actor *actor, const struct tasks *tasks,
                  const struct event *event, const struct model_cpu *cpu,
                  char *text)
{
    if (actor->cpu != cpu->cpu)
        *actor = (struct script_actor){.cpu = cpu->cpu};
    if (event->kind == PROF_EVENT_IRQ_ENTER && actor->depth < TASKS_NESTED_MAX)
        actor->vectors[actor->depth++] = (uint8_t)event->as_irq_enter.vector;
    if (cpu->irq_depth == 0 && event->kind != PROF_EVENT_IRQ_EXIT)
        actor->depth = 0;
    if (actor->depth > 0)
        snprintf(text, TASKS_TEXT_MAX, "[irq %u]",
                 (unsigned)actor->vectors[actor->depth - 1]);
    else
        title(tasks, cpu->object, text);
    if (event->kind == PROF_EVENT_IRQ_EXIT && actor->depth > 0)
        --actor->depth;
}
