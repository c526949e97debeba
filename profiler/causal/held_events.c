/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/held_events.h"

/* So many places before the end of the list are looked at. */
#define NEAR_END 8u

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

/* The pointer in the list that points to (event), and in (previous) the element
 * that contains it, NULL = held->first. NULL: (event) is not in the list. */
static struct prof_held_event **find_link(struct prof_held *held,
                                          const void *event,
                                          struct prof_held_event **previous)
{
    struct prof_held_event **link = &held->first;

    for (*previous = NULL; *link != NULL; link = &(*link)->next) {
        if ((*link)->event == event)
            return link;
        *previous = *link;
    }
    return NULL;
}

/* ---- the heap of the others */

/* Moves (added) up in the heap from (at), which is free. */
static void move_up(struct prof_held *held, struct prof_held_event *added,
                    uint32_t at)
{
    while (at != 0 && before(added, held->heap[(at - 1) / 2])) {
        held->heap[at] = held->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    held->heap[at] = added;
}

/* Moves (last) down in the heap from (at), which is free. */
static void move_down(struct prof_held *held, struct prof_held_event *last,
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

/* Removes the element at (at). */
static void remove(struct prof_held *held, uint32_t at)
{
    struct prof_held_event *last = held->heap[--held->heap_count];

    if (at == held->heap_count)
        return;
    if (before(last, held->heap[at]))
        move_up(held, last, at);
    else
        move_down(held, last, at);
}

/* ---- both */

const struct prof_held_event *prof_held_earlier(const struct prof_held *held)
{
    return held->first != NULL && before(held->first, held->heap[0])
               ? held->first
               : held->heap[0];
}

/* Makes room for another event in the place of (event). */
static void release(struct prof_held *held, struct prof_held_event *event)
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

/* Answers of a device that works on several requests come nearly in order. */
void prof_held_put_earlier(struct prof_held *held,
                           struct prof_held_event *added)
{
    struct prof_held_event *next = held->last;

    for (uint32_t i = 0; i < NEAR_END; i++) { /* (added) comes before (next) */
        if (next == held->first) {
            held->first = added;
        } else if (next->previous->due <= added->due) {
            added->previous = next->previous;
            added->previous->next = added;
        } else {
            next = next->previous;
            continue;
        }
        added->next = next;
        next->previous = added;
        return;
    }
    move_up(held, added, held->heap_count++);
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
    release(held, event);
    return event;
}

bool prof_held_withdraw(struct prof_held *held, const void *event)
{
    struct prof_held_event *previous, *found;
    struct prof_held_event **link = find_link(held, event, &previous);
    uint32_t at = 0;

    if (link != NULL) {
        found = *link;
        *link = found->next;
        if (found == held->last)
            held->last = previous;
        else
            found->next->previous = previous;
        release(held, found);
        return true;
    }
    while (at < held->heap_count && held->heap[at]->event != event)
        at++;
    if (at == held->heap_count)
        return false;
    found = held->heap[at];
    remove(held, at);
    release(held, found);
    return true;
}
