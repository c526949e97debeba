/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tasks did while they did not run, as stacks: the sites that created the
 * task, the functions in which it was suspended, as far as the guest recorded
 * them, the reason, what it waited for, and whether it waited or was ready.
 */

#include "flame/flame.h"

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

/* What it waited for, "[for read_block]": the site or kind of the object;
 * false: nothing is known. */
static bool awaited(const struct tasks *tasks, const struct tasks_stretch *wait,
                    char *text)
{
    const struct tasks_object *other;
    const char *site;

    if (wait == NULL || wait->other == TASKS_NOBODY ||
        wait->other >= tasks_objects(tasks))
        return false;
    other = &tasks->objects[wait->other];
    site = guest_names_text(&tasks->names, other->site);
    snprintf(text, TEXT_MAX, "[for %.400s]",
             *site != '\0' ? site : tasks_kind_word(other->kind));
    return true;
}

static size_t put_pseudo(struct view *view, const char *text,
                         struct frame *frames)
{
    *frames = (struct frame){.function = names_put(&view->names, text)};
    return 1;
}

/* The functions in which it was suspended. */
static size_t put_functions(struct waits *waits,
                            const struct tasks_stretch *wait,
                            struct frame *frames)
{
    if (wait == NULL || waits->tasks.stacks == 0)
        return 0;
    if (wait->stack == 0)
        return put_pseudo(waits->view, "[stack unknown]", frames);
    return view_suspend_frames(waits->view, wait->stack, frames,
                               VIEW_FRAMES_MAX / 2);
}

/* The frames of (stretch), the innermost first. */
static size_t frames_of(struct waits *waits,
                        const struct tasks_stretch *stretch, uint32_t task,
                        struct frame *frames)
{
    const struct tasks_stretch *wait = wait_of(&waits->tasks, stretch);
    struct view *view = waits->view;
    char text[TEXT_MAX];
    size_t count = put_pseudo(
        view, stretch->state == TASKS_WAITING ? "[waiting]" : "[ready]",
        frames);

    if (awaited(&waits->tasks, wait, text))
        count += put_pseudo(view, text, frames + count);
    count += put_pseudo(view, why_of(&waits->tasks, wait), frames + count);
    count += put_functions(waits, wait, frames + count);
    return count + view_task_frames(view, task, frames + count,
                                    VIEW_FRAMES_MAX - count);
}

/* The folder of the file in "file:line"; for the two states themselves, so that
 * each has a colour. */
static const char *folder_of(const struct view *view, const struct frame *frame,
                             bool is_innermost, char *text)
{
    char *slash;

    snprintf(
        text, TEXT_MAX, "%s",
        names_text(&view->names, is_innermost ? frame->function : frame->line));
    if (is_innermost)
        return text;
    slash = strrchr(text, '/');
    *(slash != NULL ? slash : text) = '\0';
    return text;
}

static uint32_t stack_of(struct waits *waits, const struct frame *frames,
                         size_t count, uint64_t clocks)
{
    struct flame *flame = waits->flame;
    const struct names *names = &waits->view->names;
    uint32_t at = flame_child(flame, FLAME_NONE, FLAME_NONE);
    char folder[TEXT_MAX];

    while (count-- > 0) {
        const struct frame *frame = &frames[count];
        const char *name = names_text(names, frame->function);

        folder_of(waits->view, frame, count == 0, folder);
        at = flame_child(flame, at, flame_pseudo(flame, name, folder));
        flame_add_line(
            flame, at,
            strings_put(&flame->strings, names_text(names, frame->line)),
            clocks);
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

    vector_reserve_one(&flame->samples, flame->sample_count, sizeof sample);
    flame->samples[flame->sample_count++] = sample;
    flame->stacks[stack].self[FLAME_NEW].samples += 1;
    flame->stacks[stack].self[FLAME_NEW].clocks += sample.clocks;
}

static void add_stretch(struct waits *waits,
                        const struct tasks_stretch *stretch)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    struct flame *flame = waits->flame;
    uint64_t from = stretch->from > flame->begin ? stretch->from : flame->begin;
    uint64_t to = stretch->to < flame->end ? stretch->to : flame->end;
    uint32_t task =
        task_of(waits->view, &waits->tasks.objects[stretch->object]);
    size_t count;

    if (from >= to)
        return;
    count = frames_of(waits, stretch, task, frames);
    if (view_wants(waits->view, task, 0, frames, count))
        add_sample(flame, stack_of(waits, frames, count, to - from), from, to);
}

static int by_time(const void *left, const void *right)
{
    const struct flame_sample *a = left, *b = right;

    return (a->time > b->time) - (a->time < b->time);
}

static void add_losses(struct flame *flame, const struct tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->loss_count; ++i) {
        const struct tasks_loss *one = &tasks->losses[i];
        struct flame_loss loss = {
            .kind = FLAME_PACKETS,
            .from = one->from - flame->begin,
            .to = one->to - flame->begin,
            .count = one->packets,
        };

        if (one->from < flame->begin || one->to > flame->end)
            continue;
        vector_reserve_one(&flame->losses, flame->loss_count, sizeof loss);
        flame->losses[flame->loss_count++] = loss;
    }
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

        if (one->object >= TASKS_SPECIAL &&
            (one->state == TASKS_WAITING || one->state == TASKS_READY))
            add_stretch(&waits, one);
    }
    add_losses(flame, tasks);
    tasks_free(&waits.tasks);
    if (flame->sample_count > 0)
        qsort(flame->samples, flame->sample_count, sizeof *flame->samples,
              by_time);
    *whole = flame_whole_of(&view->model);
    *whole = (struct flame_whole){
        .samples = flame->sample_count,
        .clocks = whole->clocks,
        .losses = {[FLAME_PACKETS] = whole->losses[FLAME_PACKETS]},
    };
}
