/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_HELD_EVENTS_H
#define PROF_HELD_EVENTS_H

/*
 * A priority queue of events that have arrived and are not due yet, in the
 * order of due times, and of arrival for equal times. Most events arrive in the
 * order of due times, or nearly: these are in a list, the others in a binary
 * heap, both in fixed memory. So the cost of most events does not depend on the
 * number held, which may be thousands. Contexts: thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_held_event {
    uint64_t due; /* virtual time, cycles */
    uint32_t order;
    uint32_t origin;
    void *event;
    struct prof_held_event *next;     /* in the list, or the free list */
    struct prof_held_event *previous; /* in the list; undefined for the first */
};

/* Bytes of memory to hold up to (room) events. */
#define PROF_HELD_BYTES(room)                                                  \
    ((room) *                                                                  \
     (sizeof(struct prof_held_event) + sizeof(struct prof_held_event *)))

struct prof_held {
    struct prof_held_event *first, *last; /* of the list; NULL: it is empty */
    struct prof_held_event **heap;
    uint32_t heap_count;
    uint32_t count;  /* events in the list and in the heap */
    uint32_t origin; /* of the events that are held from now on */
    uint32_t room;
    struct prof_held_event *unused; /* free elements that were used before */
    struct prof_held_event *events; /* all elements */
    uint32_t used; /* elements ever used: the most held at a time */
    uint32_t held; /* events held so far, modulo 2^32: the next one's order */
};

/* Initialises (held) with PROF_HELD_BYTES(room) bytes at (memory), aligned to 8
 * bytes, which MUST remain valid. */
void prof_held_init(struct prof_held *held, void *memory, uint32_t room);

/* Parts of prof_held_put(). The first returns an element that was never used,
 * NULL: there is no room. The second adds an event that is due before the end
 * of the list. */
struct prof_held_event *prof_held_new(struct prof_held *held);
void prof_held_put_earlier(struct prof_held *held,
                           struct prof_held_event *added);

/* Returns a new element with (event), counted, but not in the list yet; NULL:
 * there is no room. */
static inline struct prof_held_event *
prof_held_take_free(struct prof_held *held, uint64_t due, void *event)
{
    struct prof_held_event *added = held->unused;

    if (added == NULL && (added = prof_held_new(held)) == NULL)
        return NULL;
    held->unused = added->next;
    added->due = due;
    added->order = held->held++;
    added->origin = held->origin;
    added->event = event;
    added->next = NULL;
    held->count++;
    return added;
}

/* Returns whether the list has events, and an event that is due at (due) comes
 * after them. It is not due first then. */
static inline bool prof_held_is_later(const struct prof_held *held,
                                      uint64_t due)
{
    return held->first != NULL && due >= held->last->due;
}

/* Appends (added) to the list if prof_held_is_later(). */
static inline void prof_held_append(struct prof_held *held,
                                    struct prof_held_event *added)
{
    held->last->next = added;
    added->previous = held->last;
    held->last = added;
}

/* Holds (event) until (due). Returns false if there is no room. */
static inline bool prof_held_put(struct prof_held *held, uint64_t due,
                                 void *event)
{
    struct prof_held_event *added = prof_held_take_free(held, due, event);

    if (added == NULL)
        return false;
    if (held->first == NULL)
        held->first = held->last = added;
    else if (prof_held_is_later(held, due))
        prof_held_append(held, added);
    else
        prof_held_put_earlier(held, added);
    return true;
}

/* Returns the event that is due first; NULL: none is held.
 * prof_held_earlier() is the slow path, when the heap is not empty. */
const struct prof_held_event *prof_held_earlier(const struct prof_held *held);
static inline const struct prof_held_event *
prof_held_first(const struct prof_held *held)
{
    return held->heap_count == 0 ? held->first : prof_held_earlier(held);
}

/* Removes the first event of the list, which MUST NOT be empty, while the heap
 * is. */
static inline void prof_held_take_first(struct prof_held *held)
{
    struct prof_held_event *event = held->first;

    held->first = event->next;
    event->next = held->unused;
    held->unused = event;
    held->count--;
}

/* Removes and returns the event that is due first, which MUST exist. It is
 * valid until the next event is held. */
const struct prof_held_event *prof_held_take_earlier(struct prof_held *held);
static inline const struct prof_held_event *
prof_held_take(struct prof_held *held)
{
    const struct prof_held_event *event = held->first;

    if (held->heap_count != 0)
        return prof_held_take_earlier(held);
    prof_held_take_first(held);
    return event;
}

/* Removes (event), due or not. Returns false if it is not held. Linear. */
bool prof_held_withdraw(struct prof_held *held, const void *event);

#endif
