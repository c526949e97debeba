/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/held.h"

void prof_held_init(struct prof_held *held, void *memory, uint32_t room)
{
    struct prof_held_event *events = memory;

    *held = (struct prof_held){
        .events = events, .heap = (void *)(events + room), .room = room};
}

static bool before(const struct prof_held_event *a,
                   const struct prof_held_event *b)
{
    if (a->due != b->due)
        return a->due < b->due;
    return (int32_t)(a->order - b->order) < 0;
}

/* ---- the list of those that came in order */

/* The place that points to (event); NULL: it is not in the list. (before) is
 * the one before it. */
static struct prof_held_event **listed(struct prof_held *held,
                                       const void *event,
                                       struct prof_held_event **before)
{
    struct prof_held_event **place = &held->first;

    for (*before = NULL; *place != NULL; place = &(*place)->next) {
        if ((*place)->event == event)
            return place;
        *before = *place;
    }
    return NULL;
}

/* ---- the heap of the others */

/* Places (added) at (at), which is free, or nearer to the first. */
static void rise(struct prof_held *held, struct prof_held_event *added,
                 uint32_t at)
{
    while (at != 0 && before(added, held->heap[(at - 1) / 2])) {
        held->heap[at] = held->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    held->heap[at] = added;
}

/* Moves up the smaller child from (at), which is free, until (last) fits. */
static void sink(struct prof_held *held, struct prof_held_event *last,
                 uint32_t at)
{
    uint32_t child;

    while ((child = 2 * at + 1) < held->heap_count) {
        if (child + 1 < held->heap_count &&
            before(held->heap[child + 1], held->heap[child]))
            child++;
        if (!before(held->heap[child], last))
            break;
        held->heap[at] = held->heap[child];
        at = child;
    }
    held->heap[at] = last;
}

/* Removes the one at (at). */
static void remove(struct prof_held *held, uint32_t at)
{
    struct prof_held_event *last = held->heap[--held->heap_count];

    if (at == held->heap_count)
        return;
    if (before(last, held->heap[at]))
        rise(held, last, at);
    else
        sink(held, last, at);
}

/* ---- both */

const struct prof_held_event *prof_held_earlier(const struct prof_held *held)
{
    return held->first != NULL && before(held->first, held->heap[0])
               ? held->first
               : held->heap[0];
}

static void forget(struct prof_held *held, struct prof_held_event *event)
{
    event->next = held->unused;
    held->unused = event;
    held->count--;
}

struct prof_held_event *prof_held_new(struct prof_held *held)
{
    struct prof_held_event *added;

    if (held->used == held->room)
        return NULL;
    added = &held->events[held->used++];
    added->next = NULL;
    return added;
}

void prof_held_put_earlier(struct prof_held *held,
                           struct prof_held_event *added)
{
    rise(held, added, held->heap_count++);
}

const struct prof_held_event *prof_held_take_earlier(struct prof_held *held)
{
    struct prof_held_event *event = held->first;

    if (prof_held_earlier(held) == event) {
        held->first = event->next;
    } else {
        event = held->heap[0];
        remove(held, 0);
    }
    forget(held, event);
    return event;
}

bool prof_held_withdraw(struct prof_held *held, const void *event)
{
    struct prof_held_event *before, **place = listed(held, event, &before);
    struct prof_held_event *found;
    uint32_t at = 0;

    if (place != NULL) {
        found = *place;
        *place = found->next;
        if (found == held->last)
            held->last = before;
        forget(held, found);
        return true;
    }
    while (at < held->heap_count && held->heap[at]->event != event)
        at++;
    if (at == held->heap_count)
        return false;
    found = held->heap[at];
    remove(held, at);
    forget(held, found);
    return true;
}
