/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_PARTS_H
#define TIMELINE_PARTS_H

/*
 * The parts of a picture: each CPU of a trace is one, with rows for its
 * interrupts, its event loop and the objects that ran on it first, or that it
 * created if they never ran. A trace of one CPU is one part.
 */

#include "tasks/interrupts.h"
#include "tasks/tasks.h"

#include <stdint.h>

struct timeline_part {
    uint16_t cpu;
    uint32_t loop; /* the CPU's event loop, an object; TASKS_NONE: not seen */
    struct tasks_vectors vectors; /* of its interrupts */
};

/* Of one trace. */
struct timeline_parts {
    struct timeline_part *all; /* in the order of CPUs */
    uint32_t count;            /* at least one */
};

/* Finds the parts of (tasks), which is finished. */
void parts_find(struct timeline_parts *parts, const struct tasks *tasks);
void parts_free(struct timeline_parts *parts);

/* The part of (cpu); 0, if nothing is known of that CPU. */
uint32_t parts_of_cpu(const struct timeline_parts *parts, uint16_t cpu);

/* The part of (object), below tasks_objects(). */
uint32_t parts_of_object(const struct timeline_parts *parts,
                         const struct tasks *tasks, uint32_t object);

#endif
