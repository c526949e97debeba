/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as items to be laid out, and their rows by a sweep in order of
 * begin. */

#include "timeline/rows.h"

#include "base/memory.h"

#include <prof/trace.h>
#include <stdlib.h>
#include <string.h>

/* A segment tree: leaf (row) has the end of the last item of that row, a node
 * the least of both below it. The root is node 1. */
struct free_rows {
    uint64_t *ends;
    uint32_t room; /* leaves, a power of two */
    uint32_t used;
};

#define FIRST_ROOM 64u

static uint64_t least_below(const struct free_rows *rows, uint32_t node)
{
    uint64_t left = rows->ends[2 * node], right = rows->ends[2 * node + 1];

    return left < right ? left : right;
}

static void grow_rows(struct free_rows *rows)
{
    uint32_t room = rows->room == 0 ? FIRST_ROOM : 2 * rows->room;
    uint64_t *ends = xreallocarray(NULL, (size_t)room * 2, sizeof *ends);

    memset(ends, 0, (size_t)room * 2 * sizeof *ends);
    if (rows->room > 0)
        memcpy(ends + room, rows->ends + rows->room, rows->room * sizeof *ends);
    free(rows->ends);
    rows->ends = ends;
    rows->room = room;
    for (uint32_t node = room - 1; node > 0; --node)
        ends[node] = least_below(rows, node);
}

/* The first row from (row) on whose last item ends at (time) or before. */
static uint32_t first_free(struct free_rows *rows, uint32_t row, uint64_t time)
{
    uint32_t node;

    while (row >= rows->room)
        grow_rows(rows);
    node = rows->room + row;
    while (rows->ends[node] > time) {
        while ((node & 1) != 0 && node > 1)
            node >>= 1;
        if (node <= 1) { /* no row is free: the next one is new */
            uint32_t next = rows->room;

            grow_rows(rows);
            return first_free(rows, next, time);
        }
        ++node;
    }
    while (node < rows->room)
        node = 2 * node + (rows->ends[2 * node] > time);
    return node - rows->room;
}

static void take_row(struct free_rows *rows, uint32_t row, uint64_t end)
{
    uint32_t node = rows->room + row;

    rows->ends[node] = end;
    for (node >>= 1; node > 0; node >>= 1)
        rows->ends[node] = least_below(rows, node);
    if (row >= rows->used)
        rows->used = row + 1;
}

uint32_t layout_rows(const struct layout_item *items, size_t count,
                     uint32_t *rows)
{
    struct free_rows all = {0};

    for (size_t i = 0; i < count; ++i) {
        const struct layout_item *item = &items[i];
        uint32_t parent = item->parent, row;

        if (parent == LAYOUT_NONE) {
            row = first_free(&all, 0, item->begin);
        } else if (item->merged || items[parent].end <= item->begin) {
            row = rows[parent];
            if (all.ends[all.room + row] > item->begin)
                row = first_free(&all, 0, item->begin);
        } else {
            row = first_free(&all, rows[parent] + 1, item->begin);
        }
        rows[i] = row;
        /* what takes no time takes its place */
        take_row(&all, row,
                 item->end > item->begin ? item->end : item->begin + 1);
    }
    free(all.ends);
    return all.used;
}

/* ---- objects as items */

/* What an object did first. */
struct first {
    uint64_t read;  /* when it read another, TASKS_NEVER = it did not, or it
                       did something else before */
    uint64_t tried; /* when it was looked at while pending */
    uint64_t named;
    uint32_t source; /* what it read */
    uint32_t looked; /* at what it looked while that was
                        pending, TASKS_NONE */
    bool acted;
};

static bool is_continuation(uint8_t kind)
{
    return kind == PROF_TRACE_BIND || kind == PROF_TRACE_CATCH ||
           kind == PROF_TRACE_MAP || kind == PROF_TRACE_IGNORE_RESULT ||
           kind == PROF_TRACE_ON_FAILURE || kind == PROF_TRACE_ON_TERMINATION;
}

/* Whether (object) is one of the trace's. */
static bool is_object(const struct tasks *tasks, uint32_t object)
{
    return object < tasks_objects(tasks) && tasks_is_real(tasks, object);
}

static void take_edge(struct first *firsts, const struct tasks *tasks,
                      const struct tasks_edge *edge)
{
    struct first *first;
    bool looked_elsewhere;

    if (edge->kind == TASKS_TRY_READ && is_object(tasks, edge->to) &&
        edge->time < firsts[edge->to].tried)
        firsts[edge->to].tried = edge->time;
    if (!is_object(tasks, edge->from))
        return;
    first = &firsts[edge->from];
    if (first->acted)
        return;
    looked_elsewhere = first->looked != TASKS_NONE && first->looked != edge->to;
    if (edge->kind == TASKS_TRY_READ && !looked_elsewhere) {
        first->looked = edge->to;
        return;
    }
    first->acted = true;
    if (edge->kind != TASKS_READ || looked_elsewhere ||
        first->named < edge->time)
        return;
    first->read = edge->time;
    first->source = edge->to;
}

static struct first *firsts_of(const struct tasks *tasks)
{
    uint32_t count = tasks_objects(tasks);
    struct first *firsts = xreallocarray(NULL, count, sizeof *firsts);

    for (uint32_t i = 0; i < count; ++i)
        firsts[i] = (struct first){
            .read = TASKS_NEVER,
            .tried = TASKS_NEVER,
            .named = TASKS_NEVER,
            .looked = TASKS_NONE,
        };
    for (uint32_t i = tasks->label_count; i-- > 0;)
        firsts[tasks->labels[i].object].named = tasks->labels[i].time;
    for (uint32_t i = 0; i < tasks->edge_count; ++i)
        take_edge(firsts, tasks, &tasks->edges[i]);
    return firsts;
}

/* When it is drawn to: what has not ended was there to the end. */
static uint64_t end_of(const struct tasks *tasks, uint32_t object)
{
    uint64_t end = tasks->objects[object].end;

    return end == TASKS_NEVER ? tasks->end : end;
}

struct placed {
    uint64_t begin;
    uint32_t object;
    uint32_t parent; /* object, TASKS_NONE */
};

static int by_begin(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->object > b->object) - (a->object < b->object);
}

static struct placed place_of(const struct tasks *tasks,
                              const struct first *firsts, uint32_t object,
                              bool simplified)
{
    const struct tasks_object *one = &tasks->objects[object];
    const struct first *first = &firsts[object];
    struct placed placed = {one->begin, object, one->creator};
    bool is_tail = is_object(tasks, one->creator) &&
                   tasks->objects[one->creator].becomes == object;

    if (simplified && is_continuation(one->kind) &&
        first->read != TASKS_NEVER && first->tried > first->read && !is_tail) {
        placed.begin = first->read;
        placed.parent = first->source;
    }
    if (!is_object(tasks, placed.parent))
        placed.parent = TASKS_NONE;
    return placed;
}

static void fill_items(struct family *family, const struct tasks *tasks,
                       const struct placed *all)
{
    for (uint32_t i = 0; i < family->count; ++i)
        family->item_of[all[i].object] = i;
    for (uint32_t i = 0; i < family->count; ++i) {
        uint32_t object = all[i].object, parent = all[i].parent;
        uint64_t end = end_of(tasks, object);
        uint32_t above =
            parent == TASKS_NONE ? LAYOUT_NONE : family->item_of[parent];

        family->objects[i] = object;
        family->items[i] = (struct layout_item){
            .begin = all[i].begin,
            .end = end > all[i].begin ? end : all[i].begin,
            .parent = above < i ? above : LAYOUT_NONE,
            .merged = above < i && tasks->objects[parent].becomes == object,
        };
    }
}

/* The items of (part) alone, in the same order; a parent elsewhere is none.
 * Writes the place of each to (places) and returns how many there are. */
static uint32_t items_of_part(const struct family *family, uint32_t part,
                              struct layout_item *items, uint32_t *places)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < family->count; ++i) {
        uint32_t parent = family->items[i].parent;

        if (family->parts[i] != part)
            continue;
        items[count] = family->items[i];
        if (parent != LAYOUT_NONE)
            items[count].parent =
                family->parts[parent] == part ? places[parent] : LAYOUT_NONE;
        places[i] = count++;
    }
    return count;
}

static void layout_parts(struct family *family, uint32_t parts)
{
    size_t room = (size_t)family->count + 1;
    struct layout_item *items = xreallocarray(NULL, room, sizeof *items);
    uint32_t *places = xreallocarray(NULL, room, sizeof *places);
    uint32_t *rows = xreallocarray(NULL, room, sizeof *rows);

    for (uint32_t part = 0; part < parts; ++part) {
        uint32_t count = items_of_part(family, part, items, places);

        family->heights[part] = layout_rows(items, count, rows);
        for (uint32_t i = 0; i < family->count; ++i)
            if (family->parts[i] == part)
                family->rows[i] = rows[places[i]];
    }
    free(items);
    free(places);
    free(rows);
}

void family_make(struct family *family, const struct tasks *tasks,
                 const struct timeline_parts *parts, bool simplified)
{
    uint32_t count = tasks_objects(tasks);
    struct first *firsts = firsts_of(tasks);
    struct placed *all = xreallocarray(NULL, count, sizeof *all);

    memset(family, 0, sizeof *family);
    for (uint32_t i = TASKS_SPECIAL; i < count; ++i)
        if (tasks_is_real(tasks, i))
            all[family->count++] = place_of(tasks, firsts, i, simplified);
    qsort(all, family->count, sizeof *all, by_begin);
    family->items = xreallocarray(NULL, count, sizeof *family->items);
    family->objects = xreallocarray(NULL, count, sizeof *family->objects);
    family->parts = xreallocarray(NULL, count, sizeof *family->parts);
    family->rows = xreallocarray(NULL, count, sizeof *family->rows);
    family->heights =
        xreallocarray(NULL, parts->count, sizeof *family->heights);
    family->item_of = xreallocarray(NULL, count, sizeof *family->item_of);
    for (uint32_t i = 0; i < count; ++i)
        family->item_of[i] = LAYOUT_NONE;
    fill_items(family, tasks, all);
    for (uint32_t i = 0; i < family->count; ++i)
        family->parts[i] = parts_of_object(parts, tasks, all[i].object);
    layout_parts(family, parts->count);
    free(firsts);
    free(all);
}

void family_free(struct family *family)
{
    free(family->items);
    free(family->objects);
    free(family->parts);
    free(family->rows);
    free(family->heights);
    free(family->item_of);
    memset(family, 0, sizeof *family);
}
