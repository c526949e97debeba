/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_ROWS_H
#define TIMELINE_ROWS_H

/*
 * Which object hangs off which, and on which row it is drawn, as in
 * host/pages/timeline/rows.js, which says the rules; a test compares the two.
 * (n) objects take O(n log n).
 */

#include "tasks/tasks.h"
#include "timeline/parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAYOUT_NONE UINT32_MAX

struct layout_item {
    uint64_t begin;
    uint64_t end;    /* at or after begin */
    uint32_t parent; /* an item before this one, or LAYOUT_NONE */
    bool merged;     /* what the parent was merged into */
};

/* Writes the row of each of (count) items, which are in order of begin, to
 * (rows). Returns how many rows there are. */
uint32_t layout_rows(const struct layout_item *items, size_t count,
                     uint32_t *rows);

/* The objects of one trace. */
struct family {
    struct layout_item *items; /* in order of begin */
    uint32_t *objects;         /* of each item */
    uint32_t *parts;           /* of each item */
    uint32_t *rows;            /* of each item, from the first of its part */
    uint32_t *item_of;         /* of each object, or LAYOUT_NONE */
    uint32_t count;            /* items */
    uint32_t *heights;         /* rows of each part */
};

/* Places all objects but event loops, those of each part for themselves. */
void family_make(struct family *family, const struct tasks *tasks,
                 const struct timeline_parts *parts, bool simplified);
void family_free(struct family *family);

#endif
