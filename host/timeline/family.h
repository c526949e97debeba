/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_FAMILY_H
#define TIMELINE_FAMILY_H

/*
 * Which object hangs off which, and from when on it is drawn, of one trace.
 *
 * A continuation whose first act is to read another object did nothing before.
 * Drawn from there, hanging off what it read, it shows what happened and takes
 * far fewer rows. What somebody looked at before that, what was labelled
 * before, and what its creator was merged into stay as they are.
 * host/pages/timeline/simplify.js does the same.
 */

#include "timeline/rows.h"
#include "timeline/timeline.h"

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
