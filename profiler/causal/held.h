/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_HELD_H
#define PROF_HELD_H

/*
 * Events that have arrived and are not due yet, in the order in which they are
 * due; those due at the same time in the order in which they were held. A list
 * of those that came in that order, as most do, and a binary heap of the
 * others; both in fixed memory. What comes in order takes as long however many
 * are held: of an open loop these are thousands, and only where the target is
 * faster. Contexts: thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_held_event {
    uint64_t due; /* virtual time, cycles */
    uint32_t order;
    uint32_t origin;
    void *event;
    struct prof_held_event *next; /* of the list, or of those that are free */
};

/* Memory to hold (room) in. */
#define PROF_HELD_BYTES(room)                                                  \
    ((room) * (sizeof(struct prof_held_event) +                                \
               sizeof(struct prof_held_event *)))

struct prof_held {
    struct prof_held_event *first, *last; /* of the list; NULL: it is empty */
    struct prof_held_event **heap;
    uint32_t heap_count;
    uint32_t count; /* in both */
    uint32_t most;  /* at a time, so far */
    uint32_t order;
    uint32_t origin; /* of the events that are held from now on */
    uint32_t room;
    struct prof_held_event *unused; /* of (events), which were used before */
    struct prof_held_event *events;
    uint32_t used;                       /* of (events), so far */
    uint64_t held;                       /* events, so far */
    const struct prof_held_event *taken; /* by the last prof_held_take(); until
                                            the next one is held */
};

/* (memory), PROF_HELD_BYTES(room) aligned to 8, MUST remain valid. */
void prof_held_init(struct prof_held *held, void *memory, uint32_t room);

/* Holds (event) until (due). False: there is no room. */
bool prof_held_put(struct prof_held *held, uint64_t due, void *event);

/* The event that is due first and its due time; NULL if none is held. */
void *prof_held_first(const struct prof_held *held, uint64_t *due);

/* Removes (event), due or not. False: it is not held. Linear. */
bool prof_held_withdraw(struct prof_held *held, const void *event);

/* Removes that one, if it is due at (virtual), and returns it; or NULL. */
void *prof_held_take(struct prof_held *held, uint64_t virtual);

#endif
