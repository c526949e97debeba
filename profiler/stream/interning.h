/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_INTERNING_H
#define PROF_INTERNING_H

/*
 * Which nodes of the tree of stacks, and which names, a reader may not know, so
 * that they must be defined before the next event that mentions them.
 *
 * A lost packet must not spoil the others, so a definition is repeated: where a
 * node is first used; where it is first used in a later packet; and then
 * wherever it is used and was not defined for REPEAT_PACKETS and for some time,
 * or since sampling was last started or a reader asked. Whenever a leaf is
 * defined, so are those of its callers that are due: a reader who joins in the
 * middle knows every stack in use after twice that time.
 *
 * That time is short where readers cannot ask. Where they can (the command
 * hello), it is long: for readers that do not, and for the case that both of
 * the first definitions are lost. Counting packets alone would not do: where
 * the nodes in use fill REPEAT_PACKETS, each would be defined at each use.
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
    uint32_t clocks;    /* that time */
    uint32_t packet;    /* number of the packet in the making, of all streams */
    uint32_t limit;     /* what packets up to this one define must be defined
                           again */
    uint32_t forgotten; /* because sampling was started since, and so on */
    uint64_t marked;    /* clock of the last mark */
    uint32_t marks[PROF_REPEAT_MARKS]; /* packets, some time apart: a ring */
    uint32_t old;       /* the packet of that time ago, 0 = none */
    uint32_t next_mark; /* the oldest of them */
};

/* All nodes are to be defined again. */
static inline void prof_interning_forget(struct prof_interning *interning)
{
    interning->forgotten = interning->limit = interning->packet;
}

/* A new stream: what earlier ones have defined is not in it. */
static inline void prof_interning_begin(struct prof_interning *interning,
                                        uint32_t clocks)
{
    *interning = (struct prof_interning){.clocks = clocks,
                                         .packet = interning->packet + 1};
    prof_interning_forget(interning);
}

/* The packet was sent, the next one is begun; the clock is (clock). */
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
 * Whether a node must be defined before it is mentioned. (note) is what is kept
 * about it, 0 at first: the number of the packet that last defined it, from 1,
 * doubled, and 1 more where that was not the first time.
 */
static inline bool prof_interning_due(const struct prof_interning *interning,
                                      uint32_t note)
{
    if (note % 2 != 0 && note / 2 > interning->limit)
        return false;
    return note / 2 != interning->packet + 1;
}

/* The note of a node with the note (note), now that it is defined again. */
static inline uint32_t
prof_interning_defined(const struct prof_interning *interning, uint32_t note)
{
    return (interning->packet + 1) * 2 + (note != 0 ? 1 : 0);
}

/* Nodes all of whose callers are defined as far as this packet needs it: most
 * new stacks share their callers. What has no room here is followed again. */
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

/* The root, node 0, always is. */
static inline bool prof_is_checked(const struct prof_checked *checked,
                                   uint32_t node)
{
    return checked->nodes[node % PROF_CHECKED_SLOTS] == node;
}

#endif
