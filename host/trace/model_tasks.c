/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks of samples. Samples are not counted for each object, of which there
 * may be millions, but for the site that created it, below the task that did.
 * A site that creates itself, directly or through others, is one task.
 *
 * An object that runs before its creation is known is a task of its own, which
 * gets its site as soon as that comes.
 */

#include "trace/model.h"

#include "base/memory.h"

/* Beside (creator, site): objects without a creation, functions of tasks. */
#define OBJECT_KEY (1ull << 62)

/* The task of that key, 0 if there is no room for a new one. */
static uint32_t task_of_key(struct model *model, uint64_t key, bool *is_new)
{
    uint32_t number = index_find(&model->task_keys, key);

    *is_new = false;
    if (number != INDEX_NONE)
        return 1 + number;
    if (model->task_keys.count >= MODEL_TASKS_MAX)
        return 0;
    *is_new = true;
    if (model->task_keys.count == 0) { /* the first is none */
        vector_reserve_one(&model->tasks, 0, sizeof *model->tasks);
        model->tasks[0] = (struct model_task){0};
    }
    number = 1 + index_add(&model->task_keys, key, NULL);
    vector_reserve_one(&model->tasks, number, sizeof *model->tasks);
    model->tasks[number] = (struct model_task){0};
    return number;
}

/* The task of objects that (creator) creates at (site); an unknown site is as
 * good as its creator. */
static uint32_t task_at(struct model *model, uint32_t creator, uint32_t site)
{
    unsigned depth = 0;
    uint32_t number;
    bool is_new;

    if (site == 0)
        return creator;
    for (number = creator; number != 0; number = model->tasks[number].creator) {
        if (model->tasks[number].site == site)
            return number;
        if (++depth == MODEL_TASK_DEPTH)
            return creator;
    }
    number = task_of_key(model, index_pair(creator, site), &is_new);
    if (is_new)
        model->tasks[number] =
            (struct model_task){.creator = creator, .site = site};
    return number;
}

/* Where the task of object (id) is kept; NULL if there is no room. */
static uint32_t *task_of_object(struct model *model, uint32_t id, bool *is_new)
{
    uint32_t number = index_find(&model->objects, id);

    *is_new = false;
    if (number == INDEX_NONE) {
        if (model->objects.count >= MODEL_OBJECTS_MAX)
            return NULL;
        *is_new = true;
        number = index_add(&model->objects, id, NULL);
        vector_reserve_one(&model->object_tasks, number,
                           sizeof *model->object_tasks);
        model->object_tasks[number] = 0;
    }
    return &model->object_tasks[number];
}

/* The task of an object that was mentioned, or of none. */
static uint32_t find_task(struct model *model, uint32_t id)
{
    uint32_t number = index_find(&model->objects, id);

    return number != INDEX_NONE ? model->object_tasks[number] : 0;
}

/* The same for one that runs: it is a task, whatever is known of it. */
static uint32_t running_task(struct model *model, uint32_t id)
{
    bool is_new, is_new_task;
    uint32_t *task;

    if (id == 0 || id == UINT32_MAX)
        return 0;
    task = task_of_object(model, id, &is_new);
    if (task == NULL)
        return 0;
    if (is_new)
        *task = task_of_key(model, OBJECT_KEY | id, &is_new_task);
    if (is_new && *task != 0)
        model->tasks[*task].object = id;
    return *task;
}

/* Object (id) was created by (creator) at (site). */
static void define(struct model *model, uint32_t id, uint32_t creator,
                   uint32_t site)
{
    bool is_new;
    uint32_t *task = task_of_object(model, id, &is_new);
    struct model_task *known;

    if (task == NULL)
        return;
    if (is_new) {
        *task = task_at(model, creator, site);
        return;
    }
    if (*task == 0)
        return;
    known = &model->tasks[*task];
    if (known->object == id && known->site == 0 && known->function == 0 &&
        creator < *task)
        *known = (struct model_task){creator, site, 0, id};
}

static void take_function(struct model *model, const struct event_task *event)
{
    uint32_t task = running_task(model, event->task);

    if (task != 0)
        model->tasks[task].function = event->function;
}

bool model_take_task(struct model *model, struct model_cpu *cpu,
                     const struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_CREATE:
        define(model, event->as_create.object,
               cpu->irq_depth == 0 ? cpu->task : 0, event->as_create.site);
        return true;
    case PROF_EVENT_ALIVE:
        define(model, event->as_alive.object,
               find_task(model, event->as_alive.creator), event->as_alive.site);
        return true;
    case PROF_EVENT_SWITCH:
        cpu->object = event->as_switch.task;
        cpu->task = running_task(model, cpu->object);
        return true;
    case PROF_EVENT_TASK:
        take_function(model, &event->as_task);
        return true;
    case PROF_EVENT_IRQ_ENTER:
        ++cpu->irq_depth;
        return true;
    case PROF_EVENT_IRQ_EXIT:
        cpu->irq_depth -= cpu->irq_depth > 0;
        return true;
    case PROF_EVENT_LOST:
        model_forget_task(cpu);
        return true;
    default:
        return guest_names_take(&model->names, event);
    }
}

void model_forget_task(struct model_cpu *cpu)
{
    cpu->object = UINT32_MAX;
    cpu->task = cpu->irq_depth = 0;
}
