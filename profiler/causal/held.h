/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_HELD_H
#define PROF_HELD_H

/*
 * Events that have arrived and are not due yet, in the order in which they are
 * due; those due at the same time in the order in which they were held. A queue
 * of those that came in that order, as most do, and a binary heap of the
 * others; both in fixed memory. Contexts: thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_held_event {
    uint64_t due; /* virtual time, cycles */
    uint32_t order;
    uint32_t origin;
    void *event;
};

#define PROF_HELD_QUEUE 32u /* a power of two */

/* Where (room) are held, there is memory for so many. */
#define PROF_HELD_ALL(room) ((room) + PROF_HELD_QUEUE)

struct prof_held {
    struct prof_held_event *events; /* the heap */
    struct prof_held_event *queue;  /* PROF_HELD_QUEUE of them */
    uint32_t heap_count;
    uint32_t room; /* in both */
    uint32_t count;
    uint32_t most; /* at a time, so far */
    uint32_t order;
    uint32_t origin;              /* of the events that are held from now on */
    uint64_t held;                /* events, so far */
    struct prof_held_event taken; /* by the last prof_held_take() */
    uint32_t queue_begin, queue_end; /* modulo the size of it */
};

/* (events) has room for PROF_HELD_ALL(room), and MUST remain valid. */
void prof_held_init(struct prof_held *held, struct prof_held_event *events,
                    uint32_t room);

/* Holds (event) until (due). False: there is no room. */
bool prof_held_put(struct prof_held *held, uint64_t due, void *event);

/* The event that is due first and its due time; NULL if none is held. */
void *prof_held_first(const struct prof_held *held, uint64_t *due);

/* Removes (event), due or not. False: it is not held. Linear. */
bool prof_held_withdraw(struct prof_held *held, const void *event);

/* Removes that one, if it is due at (virtual), and returns it; or NULL. */
void *prof_held_take(struct prof_held *held, uint64_t virtual);

#endif
