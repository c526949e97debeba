/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_STORY_H
#define EXPORT_STORY_H

/*
 * What happened to objects, in the order and the pieces that formats with time
 * want: for each CPU a lane with what ran, one with the event loop, which runs
 * itself or is idle, and one with its interrupts; for each object its life and
 * what it did in it; counters; arrows between lanes. Times are clocks since the
 * trace's begin. Only what overlaps the view's time range is part of it, cut to
 * it.
 *
 * An arrow leads from a creation or a wake to the next run of the object, from
 * its end to a read of its result, from an interrupt to the run that does what
 * it left, and to the event loop if it ended its idleness. Both ends are inside
 * slices of their lanes.
 */

#include "profile/view.h"
#include "tasks/tasks.h"

/* Lanes: of each CPU by its number, and for all of them. */
enum story_row {
    STORY_RUNS,
    STORY_IRQS,
    STORY_LOSSES,
    STORY_PAUSES, /* of CPU 0 */
    STORY_LOOP,
    STORY_ROWS,
};

static inline uint32_t story_lane(uint32_t cpu, enum story_row row)
{
    return cpu * STORY_ROWS + row;
}

struct story_span {
    uint64_t from;
    uint64_t to;
};

struct story_point {
    uint32_t lane;
    uint64_t time;
};

/* All may be called many times, in any order but that given here; names live
 * until the call returns. */
struct story_sink {
    void *owner;
    /* Before the first slice of a lane. */
    void (*lane)(void *owner, uint32_t lane, const char *name);
    /* Slices of a lane come by their begin; only interrupts are nested. */
    void (*slice)(void *owner, uint32_t lane, struct story_span span,
                  const char *name);
    void (*arrow)(void *owner, struct story_point from, struct story_point to,
                  const char *kind);
    /* Objects come by their begin, each followed by its states by theirs. */
    void (*object)(void *owner, uint32_t object, struct story_span span,
                   const char *name);
    void (*state)(void *owner, uint32_t object, struct story_span span,
                  const char *name);
    /* (value) from (time) on; (counter) is a name's number. */
    void (*counter)(void *owner, uint32_t counter, uint64_t time,
                    int64_t value);
};

/* Nothing, if the trace of (view) has no objects, or if (view) selects samples
 * by what they hit: then only these are wanted. */
void story_put(const struct view *view, const struct tasks *tasks,
               const struct story_sink *sink);

#endif
