/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CHECKED_H
#define PROF_CHECKED_H

/*
 * Nodes all of whose callers are defined as far as this packet needs it. Most
 * new stacks share their callers with others, and so need not be followed up to
 * the root. What has no room here is followed again. Contexts: thread.
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_CHECKED_SLOTS 256u

struct prof_checked {
    uint32_t nodes[PROF_CHECKED_SLOTS]; /* 0 = none */
};

static inline void prof_checked_clear(struct prof_checked *checked)
{
    for (uint32_t i = 0; i < PROF_CHECKED_SLOTS; i++)
        checked->nodes[i] = 0;
}

static inline void prof_checked_add(struct prof_checked *checked, uint32_t node)
{
    checked->nodes[node % PROF_CHECKED_SLOTS] = node;
}

/* The root, node 0, always is. */
static inline bool prof_is_checked(const struct prof_checked *checked,
                                   uint32_t node)
{
    return checked->nodes[node % PROF_CHECKED_SLOTS] == node;
}

#endif
