/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_INTERNING_H
#define PROF_INTERNING_H

/*
 * Interning: determines which nodes of the stack tree, and which names, a
 * reader may not know, so that they must be defined before the next event that
 * refers to them.
 *
 * As packets may be lost, a definition is repeated: a node is defined at its
 * first use; at its first use in a later packet; and then at each use after
 * REPEAT_PACKETS and a certain time without a definition, or after sampling was
 * started or a reader has requested it. Whenever a leaf is defined, its callers
 * are, too, if they are due: a reader that joins late knows all stacks in use
 * after twice that time.
 *
 * The time is short if readers cannot request definitions. If they can (by the
 * command hello), it is long: for readers that do not, and for the case that
 * both of the first definitions are lost. The number of packets alone would not
 * suffice: if the nodes in use filled REPEAT_PACKETS, each would be defined at
 * each use.
 *
 * Contexts: thread.
 */
#include "base/cpu.h"

#include <prof/format.h>
#include <stdbool.h>
#include <stdint.h>

#define PROF_REPEAT_PACKETS 16u
#define PROF_REPEAT_SHORT (10 * PROF_CLOCK_HZ)
#define PROF_REPEAT_LONG (60 * PROF_CLOCK_HZ)
#define PROF_REPEAT_MARKS 8u /* in that time */

struct prof_interning {
    uint32_t clocks;    /* that time, in clocks of the stream */
    uint32_t packet;    /* number of the current packet, across streams */
    uint32_t limit;     /* definitions in packets up to this one must be
                           repeated */
    uint32_t forgotten; /* the same, since sampling was started etc. */
    uint64_t marked;    /* clock of the last mark */
    uint32_t marks[PROF_REPEAT_MARKS]; /* packets at regular times; a ring */
    uint32_t old;                      /* the packet that time ago, 0 = none */
    uint32_t next_mark;                /* index of the oldest mark */
};

/* Requires all nodes to be defined again. */
static inline void prof_interning_forget(struct prof_interning *interning)
{
    interning->forgotten = interning->limit = interning->packet;
}

/* Begins a new stream, in which nothing is defined. */
static inline void prof_interning_begin(struct prof_interning *interning,
                                        uint32_t clocks)
{
    *interning = (struct prof_interning){.clocks = clocks,
                                         .packet = interning->packet + 1};
    prof_interning_forget(interning);
}

/* Reports that the current packet was sent and the next one begins, at
 * (clock). */
static inline void prof_interning_sent(struct prof_interning *interning,
                                       uint64_t clock)
{
    uint32_t packet = ++interning->packet, limit;
    uint32_t *mark = &interning->marks[interning->next_mark];

    if (clock - interning->marked >= interning->clocks / PROF_REPEAT_MARKS) {
        interning->marked = clock;
        interning->old = *mark;
        *mark = packet;
        interning->next_mark = (interning->next_mark + 1) % PROF_REPEAT_MARKS;
    }
    if (packet < PROF_REPEAT_PACKETS)
        return;
    limit = packet + 1 - PROF_REPEAT_PACKETS;
    limit = limit < interning->old ? limit : interning->old;
    interning->limit =
        interning->forgotten > limit ? interning->forgotten : limit;
}

/*
 * Returns whether a node must be defined before an event refers to it. (note)
 * is the state of the node, 0 at first: twice the number of the packet that
 * last defined it, from 1, plus 1 if that was not the first definition.
 */
static inline bool prof_interning_due(const struct prof_interning *interning,
                                      uint32_t note)
{
    if (note % 2 != 0 && note / 2 > interning->limit)
        return false;
    return note / 2 != interning->packet + 1;
}

/* Returns the new note of a node with (note) that is defined in the current
 * packet. */
static inline uint32_t
prof_interning_defined(const struct prof_interning *interning, uint32_t note)
{
    return (interning->packet + 1) * 2 + (note != 0 ? 1 : 0);
}

/* A cache of nodes all of whose callers are known to be defined for this
 * packet, as most new stacks share their callers. The callers of a node that is
 * not here are checked again. */
#define PROF_CHECKED_SLOTS 256u

struct prof_checked {
    uint32_t nodes[PROF_CHECKED_SLOTS]; /* 0 = none */
};

static inline void prof_checked_clear(struct prof_checked *checked)
{
    prof_clear_words(checked, sizeof *checked / sizeof(size_t));
}

static inline void prof_checked_add(struct prof_checked *checked, uint32_t node)
{
    checked->nodes[node % PROF_CHECKED_SLOTS] = node;
}

/* Returns whether (node) is in the cache; true for the root, node 0. */
static inline bool prof_is_checked(const struct prof_checked *checked,
                                   uint32_t node)
{
    return checked->nodes[node % PROF_CHECKED_SLOTS] == node;
}

#endif
