/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of samples, by name. */

#include "profile/view.h"

#include <stdio.h>

uint32_t view_task(struct view *view, uint32_t task)
{
    const struct model_task *known;
    const char *site;
    char text[32];
    size_t count;

    if (task == 0)
        return names_put(&view->names, "[no task]");
    known = &view->model.tasks[task];
    if (known->function != 0)
        return names_at(&view->names, known->function, false, &count)->function;
    site = guest_names_text(&view->model.names, known->site);
    if (*site != '\0')
        return names_put(&view->names, site);
    snprintf(text, sizeof text, "[task %u]", (unsigned)known->object);
    return names_put(&view->names, text);
}

/* Where (task) is created, as the frame that its first function returns to. */
static struct frame site_frame(struct view *view, uint32_t task)
{
    const struct guest_names *names = &view->model.names;
    uint32_t site = task != 0 ? view->model.tasks[task].site : 0;
    const char *file = guest_names_file(names, site);
    char text[600];
    struct frame frame = {0};

    if (*file != '\0' && view->lines) {
        snprintf(text, sizeof text, "%s:%u", file,
                 (unsigned)guest_names_line(names, site));
        frame.line = names_put(&view->names, text);
    }
    snprintf(text, sizeof text, task != 0 ? "[task %s]" : "%s",
             names_text(&view->names, view_task(view, task)));
    frame.function = names_put(&view->names, text);
    return frame;
}

size_t view_task_frames(struct view *view, uint32_t task, struct frame *frames,
                        size_t room)
{
    size_t count = 0;

    if (!view->by_task || room == 0)
        return 0;
    do {
        frames[count++] = site_frame(view, task);
        task = task != 0 ? view->model.tasks[task].creator : 0;
    } while (task != 0 && count < room);
    return count;
}

size_t view_sample_frames(struct view *view, uint32_t node, uint32_t task,
                          struct frame *frames)
{
    size_t count = view_frames(view, node, frames);

    return count + view_task_frames(view, task, frames + count,
                                    VIEW_FRAMES_MAX - count);
}
