/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_WORDS_H
#define TIMELINE_WORDS_H

/*
 * The names of all traces as one list for the page: 0 is none, the others in
 * the order in which they are first asked for.
 */

#include "page/columns.h"
#include "timeline/timeline.h"

struct word {
    const char *text;
    const char *file; /* "" if it is no place in the source */
    uint32_t line;
};

/* Starts as zeros, but for the timeline. */
struct words {
    const struct timeline *timeline;
    struct index numbers; /* of (trace, name) */
    struct word *all;
};

/* The page's number of the name (name) of the trace number (trace). */
uint32_t words_of(struct words *words, size_t trace, uint16_t name);

/* The columns: the texts, and places in the source. */
void words_put(const struct words *words, struct columns *columns);

void words_free(struct words *words);

#endif
