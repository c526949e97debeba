/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The finished tree: totals, the heaviest line of each node, folders without
 * their common prefix, and nodes in drawing order. In that order all
 * descendants of a node follow it without a gap, so that a page can sum and lay
 * out a tree in one pass.
 */

#include "flame/flame.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void add(struct model_count *to, const struct model_count *count)
{
    to->samples += count->samples;
    to->clocks += count->clocks;
}

/* Parents come before their children, in both orders. */
static void add_totals(struct flame *flame)
{
    for (uint32_t i = 0; i < flame_stacks(flame); ++i) {
        const struct flame_stack *stack = &flame->stacks[i];

        for (int side = 0; side < FLAME_SIDES; ++side)
            add(&flame->nodes[stack->node].total[side], &stack->self[side]);
    }
    for (uint32_t i = flame_nodes(flame); i-- > 1;) {
        const struct flame_node *node = &flame->nodes[i];

        for (int side = 0; side < FLAME_SIDES; ++side)
            add(&flame->nodes[node->parent].total[side], &node->total[side]);
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
    draw_order(flame, order);
    renumber(flame, order);
    free(order);
}
