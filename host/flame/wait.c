/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tasks did while they did not run, as stacks: the sites that created the
 * task, the functions in which it was suspended, as far as the guest recorded
 * them, the reason, what it waited for, and whether it waited or was ready.
 */

#include "flame/flame.h"

#include "base/checked.h"
#include "base/memory.h"
#include "tasks/tasks.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (TASKS_TEXT_MAX + 16u)

struct waits {
    struct flame *flame;
    struct view *view;
    struct tasks tasks;
};

/* The model's task of (object), which knows the sites that created it. */
static uint32_t task_of(const struct view *view,
                        const struct tasks_object *object)
{
    uint32_t number = index_find(&view->model.objects, object->id);

    return number != INDEX_NONE ? view->model.object_tasks[number] : 0;
}

/* The stretch that says why (stretch) is not running: itself, or the wait that
 * made it ready; NULL: it was not suspended. */
static const struct tasks_stretch *wait_of(const struct tasks *tasks,
                                           const struct tasks_stretch *stretch)
{
    if (stretch->state == TASKS_WAITING)
        return stretch;
    if (stretch->before == TASKS_NONE)
        return NULL;
    stretch = &tasks->stretches[stretch->before];
    return stretch->state == TASKS_WAITING ? stretch : NULL;
}

static const char *why_of(const struct tasks *tasks,
                          const struct tasks_stretch *wait)
{
    const char *text = wait != NULL ? guest_names_text(&tasks->names, wait->why)
                                    : "[not suspended]";

    return *text != '\0' ? text : "[no reason]";
}

static size_t put_pseudo(struct view *view, const char *text,
                         struct flame_frame *frames)
{
    *frames =
        (struct flame_frame){.frame.function = names_put(&view->names, text)};
    return 1;
}

/* What it waited for, "[for read_block]": the site or kind of the object, and
 * where that is created; nothing where nothing is known. */
static size_t put_awaited(struct waits *waits, const struct tasks_stretch *wait,
                          struct flame_frame *frames)
{
    const struct tasks *tasks = &waits->tasks;
    const struct guest_names *names = &tasks->names;
    struct view *view = waits->view;
    const struct tasks_object *other;
    const char *site, *file;
    char text[TEXT_MAX];

    if (wait == NULL || wait->other == TASKS_NOBODY ||
        wait->other >= tasks_objects(tasks))
        return 0;
    other = &tasks->objects[wait->other];
    site = guest_names_text(names, other->site);
    file = guest_names_file(names, other->site);
    snprintf(text, sizeof text, "[for %.400s]",
             *site != '\0' ? site : tasks_kind_word(other->kind));
    put_pseudo(view, text, frames);
    snprintf(text, sizeof text, "%.400s:%u", file,
             (unsigned)guest_names_line(names, other->site));
    if (*file != '\0')
        frames->frame.line = names_put(&view->names, text);
    return 1;
}

/* The functions in which it was suspended. All of them are returned to. */
static size_t put_functions(struct waits *waits,
                            const struct tasks_stretch *wait,
                            struct flame_frame *frames)
{
    static uint32_t stack[VIEW_FRAMES_MAX];
    const struct model *model = &waits->view->model;
    size_t depth, count = 0;

    if (wait == NULL || waits->tasks.stacks == 0)
        return 0;
    if (wait->stack == 0)
        return put_pseudo(waits->view, "[stack unknown]", frames);
    depth = model_stack(model, model_node(model, wait->stack), stack,
                        VIEW_FRAMES_MAX);
    for (size_t i = 0; i < depth && count < VIEW_FRAMES_MAX / 2; ++i)
        count += flame_frames_at(waits->view, stack[i], true, frames + count,
                                 VIEW_FRAMES_MAX / 2 - count);
    return count;
}

/* The frames of (stretch), the innermost first. */
static size_t frames_of(struct waits *waits,
                        const struct tasks_stretch *stretch, uint32_t task,
                        struct flame_frame *frames)
{
    const struct tasks_stretch *wait = wait_of(&waits->tasks, stretch);
    struct view *view = waits->view;
    size_t count = put_pseudo(
        view, stretch->state == TASKS_WAITING ? "[waiting]" : "[ready]",
        frames);

    count += put_awaited(waits, wait, frames + count);
    count += put_pseudo(view, why_of(&waits->tasks, wait), frames + count);
    count += put_functions(waits, wait, frames + count);
    return count +
           flame_sites(view, task, frames + count, VIEW_FRAMES_MAX - count);
}

/* The function of (frame), at (*where), without its folder. What is no code is
 * in the folder of the file in "file:line"; the two states are in themselves,
 * so that each has a colour. */
static uint32_t function_of(struct waits *waits,
                            const struct flame_frame *frame, bool is_innermost,
                            const char **where)
{
    const struct names *names = &waits->view->names;
    const char *name = names_text(names, frame->frame.function), *slash;
    char folder[TEXT_MAX];

    *where = names_text(names, frame->frame.line);
    if (frame->address != 0)
        return flame_function(waits->flame, waits->view, frame);
    if (is_innermost)
        return flame_pseudo(waits->flame, name, name);
    slash = strrchr(*where, '/');
    snprintf(folder, sizeof folder, "%.*s",
             slash != NULL ? (int)(slash - *where) : 0, *where);
    if (slash != NULL)
        *where = slash + 1;
    return flame_pseudo(waits->flame, name, folder);
}

static uint32_t stack_of(struct waits *waits, const struct flame_frame *frames,
                         size_t count, uint64_t clocks)
{
    struct flame *flame = waits->flame;
    uint32_t at = flame_child(flame, FLAME_NONE, FLAME_NONE);

    while (count-- > 0) {
        const char *where;
        uint32_t function =
            function_of(waits, &frames[count], count == 0, &where);

        at = flame_child(flame, at, function);
        flame_add_line(flame, at, strings_put(&flame->strings, where), clocks);
    }
    return flame_stack_at(flame, at, false);
}

static void add_sample(struct flame *flame, uint32_t stack, uint64_t from,
                       uint64_t to)
{
    struct flame_sample sample = {
        .time = to - flame->begin,
        .clocks = to - from,
        .stack = stack,
        .samples = 1,
    };

    flame_put_sample(flame, &sample);
    flame->stacks[stack].self[FLAME_NEW].samples += 1;
    flame->stacks[stack].self[FLAME_NEW].clocks += sample.clocks;
}

static void add_stretch(struct waits *waits,
                        const struct tasks_stretch *stretch)
{
    static struct flame_frame frames[VIEW_FRAMES_MAX];
    static struct frame plain[VIEW_FRAMES_MAX];
    struct flame *flame = waits->flame;
    uint64_t from = stretch->from > flame->begin ? stretch->from : flame->begin;
    uint64_t to = stretch->to < flame->end ? stretch->to : flame->end;
    uint32_t task =
        task_of(waits->view, &waits->tasks.objects[stretch->object]);
    size_t count;

    if (from >= to)
        return;
    count = frames_of(waits, stretch, task, frames);
    for (size_t i = 0; i < count; ++i)
        plain[i] = frames[i].frame;
    if (view_wants(waits->view, task, 0, plain, count))
        add_sample(flame, stack_of(waits, frames, count, to - from), from, to);
}

void flame_add_waits(struct flame *flame, struct view *view)
{
    struct waits waits = {.flame = flame, .view = view};
    const struct tasks *tasks = &waits.tasks;
    struct flame_whole *whole = &flame->wholes[FLAME_NEW];

    flame->is_waits = true;
    flame_set_span(flame, &view->model);
    tasks_read(&waits.tasks, &view->trace);
    for (uint32_t i = 0; i < tasks->stretch_count; ++i) {
        const struct tasks_stretch *one = &tasks->stretches[i];

        if (tasks_is_real(tasks, one->object) &&
            (one->state == TASKS_WAITING || one->state == TASKS_READY))
            add_stretch(&waits, one);
    }
    for (uint32_t i = 0; i < tasks->loss_count; ++i)
        flame_put_loss(flame,
                       &(struct flame_loss){.kind = FLAME_PACKETS,
                                            .from = tasks->losses[i].from,
                                            .to = tasks->losses[i].to,
                                            .count = tasks->losses[i].packets});
    tasks_free(&waits.tasks);
    flame_sort(flame);
    *whole = flame_whole_of(&view->model);
    *whole = (struct flame_whole){
        .samples = flame->sample_count,
        .clocks = whole->clocks,
        .losses = {[FLAME_PACKETS] = whole->losses[FLAME_PACKETS]},
    };
}
