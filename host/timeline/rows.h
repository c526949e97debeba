/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_ROWS_H
#define TIMELINE_ROWS_H

/*
 * On which row each object is drawn; host/pages/timeline/rows.js does the
 * same, and a test compares the two.
 *
 * In order of their begin, each object takes the first row that is free from
 * then on. One that overlaps its parent in time is below it; one that does not,
 * or that its parent was merged into, takes the parent's row if that is free.
 * (n) objects take O(n log n).
 */

#include "tasks/tasks.h"

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

/*
 * Which object hangs off which, and from when on it is drawn, of one trace.
 *
 * A continuation whose first act is to read another object did nothing before.
 * Drawn from there, hanging off what it read, it shows what happened and takes
 * far fewer rows. What somebody looked at before that, what was labelled
 * before, and what its creator was merged into stay as they are.
 * host/pages/timeline/rows.js does the same.
 */

struct family {
    struct layout_item *items; /* in order of begin */
    uint32_t *objects;         /* of each item */
    uint32_t *rows;            /* of each item */
    uint32_t *item_of;         /* of each object, or LAYOUT_NONE */
    uint32_t count;            /* items */
    uint32_t height;           /* rows */
};

/* Places all objects but the event loop. */
void family_make(struct family *family, const struct tasks *tasks,
                 bool simplified);
void family_free(struct family *family);

#endif
