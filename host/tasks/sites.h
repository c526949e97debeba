/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_SITES_H
#define TASKS_SITES_H

/* Objects added up by site, and which of them still wait for which. */

#include "tasks/tasks.h"

#include <stdbool.h>

struct tasks_site {
    uint16_t name;
    uint8_t kind;
    uint32_t objects;
    uint32_t ends[TASKS_ENDS]; /* by enum tasks_end */
    uint64_t runs;
    uint64_t clocks[TASKS_STATES];
    uint64_t longest_run; /* clocks without a break */
    uint64_t life;        /* of all that ended, from begin to end */
};

/* Starts as zeros. */
struct tasks_sites {
    struct tasks_site *sites;
    struct index keys; /* (name, kind) */
};

/* Adds all objects of (tasks), which is finished, except the event loop. The
 * time in which those were pending that only rest in the end is in no sum. */
void tasks_sites_add(struct tasks_sites *sites, const struct tasks *tasks);

static inline uint32_t tasks_sites_count(const struct tasks_sites *sites)
{
    return sites->keys.count;
}

void tasks_sites_free(struct tasks_sites *sites);

/* An open object that waits for another one. */
struct tasks_wait {
    uint32_t object;
    uint32_t other;
};

/* All of them, by object and then by what it waits for; to be freed. */
struct tasks_wait *tasks_waits(const struct tasks *tasks, uint32_t *count);

/* Which of all objects something waits for, by (waits): to be freed. */
bool *tasks_waited_for(const struct tasks *tasks,
                       const struct tasks_wait *waits, uint32_t count);

/* Whether (object) is open and only rests: a mutex, mailbox, callback or the
 * like, which lasts as long as the program, and nothing waits for it. */
bool tasks_rests(const struct tasks *tasks, uint32_t object,
                 const bool *waited_for);

/* The same of each object, to be freed. */
bool *tasks_resting(const struct tasks *tasks);

/* Whether the object is there at the end of the trace, not ended. */
static inline bool tasks_is_open(const struct tasks *tasks, uint32_t object)
{
    return tasks_is_real(tasks, object) &&
           tasks->objects[object].ending == TASKS_OPEN;
}

#endif
