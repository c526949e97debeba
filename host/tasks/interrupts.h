/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_INTERRUPTS_H
#define TASKS_INTERRUPTS_H

/*
 * What the interrupts of a trace led to. From irq_enter on an interrupt is
 * known, and is handled until irq_exit. It may leave work to an object (defer),
 * which is done when that runs; and if the event loop was idle, it ends that
 * (tasks_irq.woke). When a device raised its line is not in a trace: no device
 * says it, and where interrupts were off it was earlier.
 */

#include "tasks/tasks.h"

#define TASKS_VECTORS 256u

/* The vectors of a trace, or of one of its CPUs, in rising order. */
struct tasks_vectors {
    uint32_t count;
    uint8_t all[TASKS_VECTORS];   /* (count) of them */
    uint8_t place[TASKS_VECTORS]; /* of a vector, in (all) */
};

#define TASKS_ANY_CPU UINT16_MAX

void tasks_find_vectors(struct tasks_vectors *vectors,
                        const struct tasks *tasks, uint16_t cpu);

/* Whether (actor), of an edge, is an interrupt that (tasks) has. */
bool tasks_is_irq(const struct tasks *tasks, uint32_t actor);

struct tasks_served {
    uint32_t object; /* that work was left to, the last one; or TASKS_NONE */
    uint64_t left;   /* when */
    uint64_t ran;    /* when that ran next, TASKS_NEVER = it did not */
    uint8_t cpu;     /* on which it ran */
};

/* Of each of tasks->irqs of (tasks), which is finished; to be freed. Takes time
 * and memory in proportion to the trace. */
struct tasks_served *tasks_served(const struct tasks *tasks);

/* How often, and how fast, one vector was served, in clocks. */
struct tasks_delays {
    uint32_t count;
    uint64_t *all; /* sorted; count of them */
    uint64_t sum;
};

struct tasks_vector_sum {
    uint32_t irqs;
    uint32_t left;               /* that left work to an object */
    uint32_t object;             /* the last such object, TASKS_NONE */
    uint32_t woke;               /* that ended the loop's idleness */
    struct tasks_delays handled; /* from enter to exit */
    struct tasks_delays ran;     /* from enter until the work is begun */
};

/* Of each of (vectors); to be freed by the second. */
struct tasks_vector_sum *tasks_sum_vectors(const struct tasks *tasks,
                                           const struct tasks_vectors *vectors);
void tasks_free_vector_sums(struct tasks_vector_sum *sums,
                            const struct tasks_vectors *vectors);

/* So many in 1,000 of (delays), of which there are some, are not above. */
uint64_t tasks_delay_at(const struct tasks_delays *delays, uint32_t thousandth);

#endif
