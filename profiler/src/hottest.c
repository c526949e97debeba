/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A long table is sorted as a list through the cells, by merging: a cell of a
 * function has no stack of its own, and so its (node) is free to be the next
 * one's number.
 */

#include "hottest.h"

#include "map.h"
#include "state.h"

#define LISTS_MAX 32u /* the list numbered n has 1 << n cells, or none */

uint64_t prof_hottest_weight(const struct prof_cell *cell)
{
    return prof_options()->weight == PROF_WEIGHT_TIME ? cell->cycles
                                                      : cell->count;
}

/* Whether (a) comes before (b) in the table. */
static bool hotter(const struct prof_cell *a, const struct prof_cell *b)
{
    uint64_t of_a = prof_hottest_weight(a), of_b = prof_hottest_weight(b);

    if (of_a != of_b)
        return of_a > of_b;
    if (a->count != b->count)
        return a->count > b->count;
    return a->key < b->key;
}

/* Puts (cell) where it belongs among the (most) hottest, if it does. */
static void put(struct prof_hottest *hottest, const struct prof_cell *cell,
                uint32_t most)
{
    uint32_t at = hottest->count;

    if (at == most && !hotter(cell, hottest->few[--at]))
        return;
    for (; at > 0 && hotter(cell, hottest->few[at - 1]); at--)
        hottest->few[at] = hottest->few[at - 1];
    hottest->few[at] = cell;
    hottest->count += hottest->count < most;
}

static void find_few(struct prof_hottest *hottest)
{
    const struct prof_map *map = &prof_state.functions;

    for (uint32_t i = 0; hottest->wanted > 0 && i < map->capacity; i++)
        if (map->cells[i].count != 0)
            put(hottest, &map->cells[i], hottest->wanted);
}

/* Two lists, each in its order, as one. */
static uint32_t merged(uint32_t a, uint32_t b)
{
    struct prof_cell *cells = prof_state.functions.cells;
    uint32_t first = 0, *end = &first;

    while (a != 0 && b != 0) {
        uint32_t *from = hotter(&cells[a - 1], &cells[b - 1]) ? &a : &b;

        *end = *from;
        end = &cells[*from - 1].node;
        *from = *end;
    }
    *end = a != 0 ? a : b;
    return first;
}

/* All functions as one list; returns its first one's number. */
static uint32_t sorted(void)
{
    const struct prof_map *map = &prof_state.functions;
    uint32_t lists[LISTS_MAX] = {0}, all = 0;

    for (uint32_t i = 0; i < map->capacity; i++) {
        uint32_t list = i + 1, n = 0;

        if (map->cells[i].count == 0)
            continue;
        map->cells[i].node = 0;
        for (; lists[n] != 0; n++) {
            list = merged(lists[n], list);
            lists[n] = 0;
        }
        lists[n] = list;
    }
    for (uint32_t n = 0; n < LISTS_MAX; n++)
        all = merged(lists[n], all);
    return all;
}

void prof_hottest_begin(struct prof_hottest *hottest, uint32_t wanted)
{
    hottest->count = hottest->at = 0;
    hottest->wanted = wanted;
    if (wanted > PROF_HOTTEST_FEW)
        hottest->at = sorted();
    else
        find_few(hottest);
}

const struct prof_cell *prof_hottest_next(struct prof_hottest *hottest)
{
    const struct prof_cell *cell;

    if (hottest->wanted == 0)
        return NULL;
    if (hottest->count != 0) /* a short table; it has a row, if any does */
        return hottest->at < hottest->count ? hottest->few[hottest->at++]
                                            : NULL;
    if (hottest->at == 0)
        return NULL;
    cell = &prof_state.functions.cells[hottest->at - 1];
    hottest->at = cell->node;
    hottest->wanted--;
    return cell;
}
