/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of suspends as a tree. */

#include "timeline/timeline.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The node, from 1, of the function (name) called by node (parent). */
static uint32_t node_of(struct waits *waits, uint32_t parent, uint32_t name)
{
    const struct waits_node node = {parent, name};

    return 1 + index_add_row(&waits->nodes, index_pair(parent, name),
                             &waits->tree, &node, sizeof node);
}

static uint32_t add_stack(struct waits *waits, struct view *view,
                          uint32_t stack)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    size_t count = view_suspend_frames(view, stack, frames, VIEW_FRAMES_MAX);
    uint32_t node = 0;

    while (count-- > 0) {
        const char *name = names_text(&view->names, frames[count].function);

        node = node_of(waits, node, strings_put(&waits->names, name));
    }
    return node;
}

void waits_add(struct waits *waits, size_t trace, const struct tasks *tasks,
               struct view *view)
{
    for (uint32_t i = 0; i < tasks->stretch_count; ++i) {
        uint32_t stack = tasks->stretches[i].stack, number;
        bool is_new;

        if (tasks->stretches[i].state != TASKS_WAITING || stack == 0)
            continue;
        number = index_add(&waits->stacks, index_pair((uint32_t)trace, stack),
                           &is_new);
        if (!is_new)
            continue;
        vector_reserve_one(&waits->leaves, number, sizeof *waits->leaves);
        waits->leaves[number] = add_stack(waits, view, stack);
    }
}

uint32_t waits_of(const struct waits *waits, size_t trace,
                  const struct tasks_stretch *stretch)
{
    uint32_t number;

    if (stretch->state != TASKS_WAITING || stretch->stack == 0)
        return 0;
    number =
        index_find(&waits->stacks, index_pair((uint32_t)trace, stretch->stack));
    return number != INDEX_NONE ? waits->leaves[number] : 0;
}

void waits_put(const struct waits *waits, struct columns *columns)
{
    uint32_t names = strings_count(&waits->names);

    COLUMNS_PUT_ALL(columns, "wait.parent", columns_put, waits->nodes.count,
                    waits->tree[i].parent);
    COLUMNS_PUT_ALL(columns, "wait.function", columns_put, waits->nodes.count,
                    waits->tree[i].function);
    COLUMNS_PUT_ALL(columns, "wait.bytes", columns_put, names,
                    strlen(strings_text(&waits->names, (uint32_t)i)));
    COLUMNS_PUT_ALL(columns, "wait.text", columns_put_text, names,
                    strings_text(&waits->names, (uint32_t)i));
}

void waits_free(struct waits *waits)
{
    strings_free(&waits->names);
    index_free(&waits->nodes);
    index_free(&waits->stacks);
    free(waits->tree);
    free(waits->leaves);
}
