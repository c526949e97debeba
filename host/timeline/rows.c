/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by a sweep in order of begin. */

#include "timeline/rows.h"

#include "base/memory.h"

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

static void grow(struct free_rows *rows)
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
        grow(rows);
    node = rows->room + row;
    while (rows->ends[node] > time) {
        while ((node & 1) != 0 && node > 1)
            node >>= 1;
        if (node <= 1) { /* no row is free: the next one is new */
            uint32_t next = rows->room;

            grow(rows);
            return first_free(rows, next, time);
        }
        ++node;
    }
    while (node < rows->room)
        node = 2 * node + (rows->ends[2 * node] > time);
    return node - rows->room;
}

static void take(struct free_rows *rows, uint32_t row, uint64_t end)
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
        take(&all, row, item->end > item->begin ? item->end : item->begin + 1);
    }
    free(all.ends);
    return all.used;
}
