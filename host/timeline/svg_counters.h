/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_SVG_COUNTERS_H
#define TIMELINE_SVG_COUNTERS_H

/*
 * Counters in a static picture, by the rules of the page
 * (host/pages/timeline/counters.js): step lines in a lane below the rows of a
 * trace; names that are equal up to their last number sign share a scale, which
 * includes 0; one name has one colour in all traces. And a mark on the line of
 * the object that made a step.
 */

#include "base/index.h"
#include "timeline/timeline.h"

#define SVG_LANE 110.0 /* the height of a lane, with the gap above it */

struct svg_counter {
    size_t trace;
    uint32_t text;  /* number of its text, which says its colour */
    uint32_t scale; /* number of its scale */
};

struct svg_scale {
    double least; /* 0, or what a counter fell to */
    double most;
};

/* Of all traces. Starts as zeros. */
struct svg_counters {
    struct index numbers; /* of (trace, name) */
    struct svg_counter *all;
    struct strings texts;
    struct strings keys;      /* of scales */
    struct svg_scale *scales; /* by number */
};

/* Where a trace is drawn. */
struct svg_place {
    FILE *out;
    const void *owner;
    size_t trace;
    double width;
    double lane; /* top of its lane */
    /* Where (time) is, beyond the picture just outside of it; and the line of
     * (object), negative if it has none with room below it. */
    double (*x_of)(const void *owner, uint64_t time);
    double (*y_of)(const void *owner, uint32_t object);
};

void svg_counters_open(struct svg_counters *counters,
                       const struct timeline *timeline);
void svg_counters_close(struct svg_counters *counters);

/* Whether the trace number (trace) has some, and so a lane. */
bool svg_counters_in(const struct svg_counters *counters, size_t trace);

/* Their styles, once in a picture, if there are counters at all. */
void svg_counters_put_style(const struct svg_counters *counters, FILE *out);

/* The marks on objects, and the lane. */
void svg_counters_put(const struct svg_counters *counters,
                      const struct timeline *timeline,
                      const struct svg_place *place);

#endif
