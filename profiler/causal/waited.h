/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_WAITED_H
#define PROF_WAITED_H

/*
 * The sources that the loop waits for, by name: agents, timers and locks. Names
 * are numbered from 1 on in the order of their first use, and keep their
 * numbers. Names for which there is no room count in the sum of their kind.
 * Contexts: thread.
 */

#include <prof/causal.h>

#define PROF_WAITED_MAX (PROF_PARTS_MAX - PROF_LIMITS)

/* A source: its kind, and above it the number of its name, 0: no name. */
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

/* Allocates room for names, before the first experiments. Returns false if
 * there is no memory. */
bool prof_waited_begin(void);

/* Returns the source of (kind) and (name), after numbering the name if it is
 * new; with number 0 if there is no room. After prof_waited_begin(). */
uint32_t prof_waited_source(enum prof_limit kind, const char *name);

#endif
