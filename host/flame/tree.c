/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of addresses become a tree of functions. */

#include "flame/flame.h"

#include "base/log.h"
#include "base/memory.h"
#include "flame/sides.h"

#include <stdlib.h>
#include <string.h>

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

        function.part = flame_part_at(
            &view->names, names_text(&view->names, frame->frame.function),
            frame->address);
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

size_t flame_sites(struct view *view, uint32_t task, struct flame_frame *frames,
                   size_t room)
{
    static struct frame sites[VIEW_FRAMES_MAX];
    size_t count = view_task_frames(view, task, sites, room);

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
    count +=
        flame_sites(view, cell->task, frames + count, VIEW_FRAMES_MAX - count);
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
    struct view_stack stack = {0};
    uint32_t count = model_cells(&view->model);
    uint32_t *stacks = xreallocarray(NULL, count + 1, sizeof *stacks);

    for (uint32_t i = 0; i < count; ++i)
        stacks[i] = FLAME_NONE;
    while (view_next(view, &stack)) {
        uint32_t number = stack_of(flame, view, stack.cell, exits);

        stacks[stack.number] = number;
        model_count_add(&flame->stacks[number].self[side], &stack.cell->count);
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
    free(flame->cpus);
    ticks_free(&flame->ticks);
    if (flame->sides != NULL)
        sides_free(flame->sides);
    *flame = (struct flame){0};
}

/* ---- the finished tree: totals, the heaviest line of each node, folders
 * without their common prefix, and nodes in drawing order. In that order all
 * descendants of a node follow it without a gap, so that a page can sum and lay
 * out a tree in one pass. */

/* Parents come before their children, in both orders. */
static void add_totals(struct flame *flame)
{
    for (uint32_t i = 0; i < flame_stacks(flame); ++i) {
        const struct flame_stack *stack = &flame->stacks[i];

        for (int side = 0; side < FLAME_SIDES; ++side)
            model_count_add(&flame->nodes[stack->node].total[side],
                            &stack->self[side]);
    }
    for (uint32_t i = flame_nodes(flame); i-- > 1;) {
        const struct flame_node *node = &flame->nodes[i];

        for (int side = 0; side < FLAME_SIDES; ++side)
            model_count_add(&flame->nodes[node->parent].total[side],
                            &node->total[side]);
    }
}

static void choose_lines(struct flame *flame)
{
    uint64_t *best = xreallocarray(NULL, flame_nodes(flame) + 1, sizeof *best);

    memset(best, 0, (flame_nodes(flame) + 1) * sizeof *best);
    for (uint32_t slot = 0; slot < flame->line_keys.room; ++slot) {
        const struct index_slot *key = &flame->line_keys.slots[slot];
        uint32_t node = (uint32_t)(key->key >> 32);

        if (key->number == INDEX_NONE ||
            flame->lines[key->number] < best[node] ||
            (flame->lines[key->number] == best[node] &&
             flame->nodes[node].line > (uint32_t)key->key))
            continue;
        best[node] = flame->lines[key->number];
        flame->nodes[node].line = (uint32_t)key->key;
    }
    free(best);
}

/* The last part of the folder (path) of (bytes) bytes, as a string's number: a
 * name for what is in the folder that all have in common. */
static uint32_t name_of_common(struct strings *strings, const char *path,
                               size_t bytes)
{
    char *name = xstrdup(path);
    const char *slash;
    uint32_t number;

    while (bytes > 1 && name[bytes - 1] == '/')
        --bytes;
    name[bytes] = '\0';
    slash = strrchr(name, '/');
    number = strings_put(strings,
                         slash != NULL && slash[1] != '\0' ? slash + 1 : name);
    free(name);
    return number;
}

static void shorten_folders(struct flame *flame)
{
    const char *first = NULL;
    size_t common = 0;

    for (uint32_t i = 0; i < flame_functions(flame); ++i) {
        const char *folder =
            strings_text(&flame->strings, flame->functions[i].folder);

        if (*folder != '/')
            continue;
        if (first == NULL)
            common = strlen(first = folder);
        common = source_common(first, folder, common);
    }
    for (uint32_t i = 0; i < flame_functions(flame); ++i) {
        uint32_t *number = &flame->functions[i].folder;
        const char *folder = strings_text(&flame->strings, *number);
        size_t skip = *folder == '/' ? common : 0;

        skip += folder[skip] == '/';
        *number = *folder == '/' && folder[skip] == '\0'
                      ? name_of_common(&flame->strings, folder, common)
                      : strings_put(&flame->strings, folder + skip);
    }
}

/* A folder says more than an address, except about user mode. */
static void find_parts(struct flame *flame)
{
    for (uint32_t i = 0; i < flame_functions(flame); ++i) {
        struct flame_function *one = &flame->functions[i];
        enum flame_part part =
            flame_part_of_folder(strings_text(&flame->strings, one->folder));

        if (one->part != FLAME_PART_USER && part != FLAME_PART_UNKNOWN)
            one->part = part;
    }
}

static const struct flame *sorted_flame;

/* Siblings are adjacent, the heaviest first; equal ones by name, so that the
 * same trace always makes the same page. */
static int by_parent(const void *left, const void *right)
{
    const struct flame_node *a = &sorted_flame->nodes[*(const uint32_t *)left];
    const struct flame_node *b = &sorted_flame->nodes[*(const uint32_t *)right];
    uint64_t heavy_a = a->total[0].clocks + a->total[1].clocks;
    uint64_t heavy_b = b->total[0].clocks + b->total[1].clocks;

    if (a->parent != b->parent)
        return a->parent + 1 < b->parent + 1 ? -1 : 1;
    if (heavy_a != heavy_b)
        return heavy_a > heavy_b ? -1 : 1;
    return strcmp(strings_text(&sorted_flame->strings,
                               sorted_flame->functions[a->function].name),
                  strings_text(&sorted_flame->strings,
                               sorted_flame->functions[b->function].name));
}

/* Fills (order) with the old numbers in drawing order. */
static void draw_order(const struct flame *flame, uint32_t *order)
{
    uint32_t count = flame_nodes(flame), used = 0, waiting = 1;
    uint32_t *sorted = xreallocarray(NULL, count, sizeof *sorted);
    uint32_t *first = xreallocarray(NULL, count + 1, sizeof *first);
    uint32_t *stack = xreallocarray(NULL, count, sizeof *stack);

    for (uint32_t i = 0; i < count; ++i)
        sorted[i] = i;
    sorted_flame = flame;
    qsort(sorted, count, sizeof *sorted, by_parent);
    for (uint32_t i = 0; i <= count; ++i)
        first[i] = FLAME_NONE;
    for (uint32_t i = count; i-- > 1;)
        first[flame->nodes[sorted[i]].parent] = i;
    stack[0] = 0;
    while (waiting > 0) {
        uint32_t node = stack[--waiting], from = first[node], to = from;

        order[used++] = node;
        while (from != FLAME_NONE && to < count &&
               flame->nodes[sorted[to]].parent == node)
            ++to;
        while (to > from)
            stack[waiting++] = sorted[--to];
    }
    free(sorted);
    free(first);
    free(stack);
}

static void renumber(struct flame *flame, const uint32_t *order)
{
    uint32_t count = flame_nodes(flame);
    struct flame_node *nodes = xreallocarray(NULL, count, sizeof *nodes);
    uint32_t *now = xreallocarray(NULL, count, sizeof *now);

    for (uint32_t i = 0; i < count; ++i) {
        nodes[i] = flame->nodes[order[i]];
        now[order[i]] = i;
    }
    for (uint32_t i = 1; i < count; ++i)
        nodes[i].parent = now[nodes[i].parent];
    for (uint32_t i = 0; i < flame_stacks(flame); ++i)
        flame->stacks[i].node = now[flame->stacks[i].node];
    free(flame->nodes);
    free(now);
    flame->nodes = nodes;
}

void flame_finish(struct flame *flame)
{
    uint32_t *order = xreallocarray(NULL, flame_nodes(flame), sizeof *order);

    add_totals(flame);
    choose_lines(flame);
    shorten_folders(flame);
    find_parts(flame);
    draw_order(flame, order);
    renumber(flame, order);
    free(order);
}
