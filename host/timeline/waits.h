/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_WAITS_H
#define TIMELINE_WAITS_H

/*
 * The functions in which tasks were suspended, of all traces whose guests
 * recorded them (prof.trace_stacks=), as one tree for the page: nodes count
 * from 1, and 0 is none. A node is a function and what called it.
 */

#include "base/index.h"
#include "page/columns.h"
#include "profile/view.h"
#include "tasks/tasks.h"

struct waits_node {
    uint32_t parent;
    uint32_t function; /* a name */
};

/* Starts as zeros. */
struct waits {
    struct strings names;
    struct index nodes;      /* of (caller's node, name) */
    struct index stacks;     /* of (trace, the guest's node) */
    struct waits_node *tree; /* in the order of their numbers */
    uint32_t *leaves;        /* the node of each stack */
};

/* Adds the stacks of the waits of trace number (trace), whose names are those
 * of (view), which is open. */
void waits_add(struct waits *waits, size_t trace, const struct tasks *tasks,
               struct view *view);

/* The node at which the wait (stretch) of that trace began, 0 = not known. */
uint32_t waits_of(const struct waits *waits, size_t trace,
                  const struct tasks_stretch *stretch);

/* The columns of the tree. */
void waits_put(const struct waits *waits, struct columns *columns);

void waits_free(struct waits *waits);

#endif
