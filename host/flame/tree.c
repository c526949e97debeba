/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of addresses become a tree of functions. */

#include "flame/sides.h"

#include "base/log.h"
#include "base/memory.h"

#include <stdlib.h>

static uint32_t text_of(struct flame *flame, struct view *view, uint32_t number)
{
    return strings_put(&flame->strings, names_text(&view->names, number));
}

uint32_t flame_function(struct flame *flame, struct view *view,
                        const struct flame_frame *frame)
{
    uint32_t name = text_of(flame, view, frame->frame.function), number;
    struct flame_function function = {.name = name};
    bool is_new;

    number = index_add(&flame->function_names, name, &is_new);
    if (!is_new)
        return number;
    if (frame->address != 0) {
        const char *folder =
            source_folder(&view->names, frame->address, frame->inlined);

        function.folder = strings_put(&flame->strings, folder);
        function.language = source_language(&view->names, frame->address);
    }
    vector_reserve_one(&flame->functions, number, sizeof function);
    flame->functions[number] = function;
    return number;
}

uint32_t flame_pseudo(struct flame *flame, const char *name, const char *folder)
{
    struct flame_function function = {
        .name = strings_put(&flame->strings, name),
        .folder = strings_put(&flame->strings, folder),
    };
    bool is_new;
    uint32_t number = index_add(&flame->function_names, function.name, &is_new);

    if (is_new) {
        vector_reserve_one(&flame->functions, number, sizeof function);
        flame->functions[number] = function;
    }
    return number;
}

uint32_t flame_child(struct flame *flame, uint32_t parent, uint32_t function)
{
    bool is_new;
    uint32_t number =
        index_add(&flame->node_keys, index_pair(parent, function), &is_new);

    if (number == FLAME_NODES_MAX)
        die("more than %u boxes; choose less of the trace", FLAME_NODES_MAX);
    if (is_new) {
        vector_reserve_one(&flame->nodes, number, sizeof *flame->nodes);
        flame->nodes[number] = (struct flame_node){
            .parent = parent,
            .function = function,
            .depth = parent == FLAME_NONE ? 0 : flame->nodes[parent].depth + 1,
        };
    }
    return number;
}

void flame_add_line(struct flame *flame, uint32_t node, uint32_t text,
                    uint64_t clocks)
{
    uint32_t number;
    bool is_new;

    if (text == 0)
        return;
    number = index_add(&flame->line_keys, index_pair(node, text), &is_new);
    if (is_new) {
        vector_reserve_one(&flame->lines, number, sizeof *flame->lines);
        flame->lines[number] = 0;
    }
    flame->lines[number] += clocks;
}

size_t flame_frames_at(struct view *view, uint32_t number, bool returned,
                       struct flame_frame *frames, size_t room)
{
    struct flame_frame pseudo = {0};
    const struct frame *found;
    uint64_t address;
    size_t count, i;

    if (number < MODEL_PSEUDOS) {
        pseudo.frame.function = view->pseudo_names[number];
        frames[0] = pseudo;
        return 1;
    }
    address = view->model.nodes[number].address;
    found = names_at(&view->names, address, returned, &count);
    for (i = 0; i < count && i < room; ++i)
        frames[i] = (struct flame_frame){found[i], address - returned, i};
    return i;
}

/* Appends the sites that created the task of (cell), if they are wanted. */
static size_t put_sites(struct view *view, const struct model_cell *cell,
                        struct flame_frame *frames, size_t room)
{
    static struct frame sites[VIEW_FRAMES_MAX];
    size_t count = view_task_frames(view, cell->task, sites, room);

    for (size_t i = 0; i < count; ++i)
        frames[i] = (struct flame_frame){.frame = sites[i]};
    return count;
}

uint32_t flame_stack_at(struct flame *flame, uint32_t node, bool exits)
{
    bool is_new;
    uint32_t number =
        index_add(&flame->stack_keys, index_pair(node, exits), &is_new);

    if (is_new) {
        vector_reserve_one(&flame->stacks, number, sizeof *flame->stacks);
        flame->stacks[number] =
            (struct flame_stack){.node = node, .exits = exits};
    }
    return number;
}

/* The number in flame.stacks of the stack of (cell). */
static uint32_t stack_of(struct flame *flame, struct view *view,
                         const struct model_cell *cell, struct exits *exits)
{
    static uint32_t stack[VIEW_FRAMES_MAX];
    static struct flame_frame frames[VIEW_FRAMES_MAX];
    size_t deep = model_stack(&view->model, cell->node, stack, VIEW_FRAMES_MAX);
    size_t count = 0;
    uint32_t at = flame_child(flame, FLAME_NONE, FLAME_NONE);
    bool leaves;

    for (size_t i = 0; i < deep && count < VIEW_FRAMES_MAX; ++i)
        count += flame_frames_at(view, stack[i], i > 0, frames + count,
                                 VIEW_FRAMES_MAX - count);
    count += put_sites(view, cell, frames + count, VIEW_FRAMES_MAX - count);
    while (count-- > 0) {
        at =
            flame_child(flame, at, flame_function(flame, view, &frames[count]));
        flame_add_line(flame, at,
                       text_of(flame, view, frames[count].frame.line),
                       cell->count.clocks);
    }
    leaves = deep > 0 && stack[0] >= MODEL_PSEUDOS &&
             exits_at(exits, view->model.nodes[stack[0]].address);
    return flame_stack_at(flame, at, leaves);
}

void flame_add(struct flame *flame, struct view *view, enum flame_side side,
               struct exits *exits)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    uint32_t count = model_cells(&view->model);
    uint32_t *stacks = xreallocarray(NULL, count + 1, sizeof *stacks);

    for (uint32_t i = 0; i < count; ++i) {
        const struct model_cell *cell = &view->model.cells[i];
        size_t depth = view_sample_frames(view, cell->node, cell->task, frames);
        struct model_count *self;

        stacks[i] = FLAME_NONE;
        if (!view_wants(view, cell->task, cell->cpu, frames, depth))
            continue;
        stacks[i] = stack_of(flame, view, cell, exits);
        self = &flame->stacks[stacks[i]].self[side];
        self->samples += cell->count.samples;
        self->clocks += cell->count.clocks;
    }
    flame->wholes[side] = flame_whole_of(&view->model);
    if (view->own_apart && !view->with_own)
        flame->wholes[side].losses[FLAME_OWN] = view_own(view).samples;
    if (side == FLAME_NEW)
        flame_add_samples(flame, view, stacks);
    else if (flame->sides != NULL)
        sides_add_samples(flame, view, stacks);
    free(stacks);
}

void flame_free(struct flame *flame)
{
    strings_free(&flame->strings);
    index_free(&flame->function_names);
    index_free(&flame->node_keys);
    index_free(&flame->stack_keys);
    index_free(&flame->line_keys);
    free(flame->functions);
    free(flame->nodes);
    free(flame->stacks);
    free(flame->lines);
    free(flame->samples);
    free(flame->losses);
    if (flame->sides != NULL)
        sides_free(flame->sides);
    *flame = (struct flame){0};
}
