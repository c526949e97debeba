/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_WAITED_H
#define PROF_WAITED_H

/*
 * What the loop waits for, by name: agents, timers and locks. Names are
 * numbered from 1 on in the order in which they were first waited for, and
 * keep their numbers. Those that come when there is no room are in the sum of
 * their kind. Contexts: thread.
 */

#include <prof/causal.h>

#define PROF_WAITED_MAX (PROF_PARTS_MAX - PROF_LIMITS)

/* A kind, and above it the number of a name; 0: it has none. */
#define PROF_WAITED_KIND_BITS 8u

struct prof_waited_names {
    uint32_t count;
    struct {
        const char *name;
        enum prof_limit kind;
    } of[PROF_WAITED_MAX]; /* the first is number 1 */
};

static inline enum prof_limit prof_waited_kind(uint32_t source)
{
    return (enum prof_limit)(source & ((1u << PROF_WAITED_KIND_BITS) - 1));
}

static inline uint32_t prof_waited_number(uint32_t source)
{
    return source >> PROF_WAITED_KIND_BITS;
}

/* Before the first experiments: room for names. False: no memory. */
bool prof_waited_begin(void);

/* (kind) and the number of (name), which is a new one if it has none yet, or 0
 * without room. After prof_waited_begin(). */
uint32_t prof_waited_source(enum prof_limit kind, const char *name);

#endif
