/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/held.h"

void prof_held_init(struct prof_held *held, struct prof_held_event *events,
                    uint32_t room)
{
    *held = (struct prof_held){
        .events = events, .queue = events + room, .room = room};
}

static bool before(const struct prof_held_event *a,
                   const struct prof_held_event *b)
{
    if (a->due != b->due)
        return a->due < b->due;
    return (int32_t)(a->order - b->order) < 0;
}

/* ---- the queue of those that came in order */

static struct prof_held_event *queued(struct prof_held *held, uint32_t at)
{
    return &held->queue[at % PROF_HELD_QUEUE];
}

/* False: it is due before the last one, or there is no room. */
static bool enqueue(struct prof_held *held, const struct prof_held_event *added)
{
    uint32_t count = held->queue_end - held->queue_begin;

    if (count != 0 && (count == PROF_HELD_QUEUE ||
                       added->due < queued(held, held->queue_end - 1)->due))
        return false;
    *queued(held, held->queue_end++) = *added;
    return true;
}

static bool dequeue(struct prof_held *held, const void *event)
{
    uint32_t at = held->queue_begin;

    while (at != held->queue_end && queued(held, at)->event != event)
        at++;
    if (at == held->queue_end)
        return false;
    held->queue_end--;
    for (; at != held->queue_end; at++)
        *queued(held, at) = *queued(held, at + 1);
    return true;
}

/* ---- the heap of the others */

/* Places (added) at (at), which is free, or nearer to the first. */
static void rise(struct prof_held *held, struct prof_held_event added,
                 uint32_t at)
{
    while (at != 0 && before(&added, &held->events[(at - 1) / 2])) {
        held->events[at] = held->events[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    held->events[at] = added;
}

/* Moves up the smaller child from (at), which is free, until (last) fits. */
static void sink(struct prof_held *held, struct prof_held_event last,
                 uint32_t at)
{
    uint32_t child;

    while ((child = 2 * at + 1) < held->heap_count) {
        if (child + 1 < held->heap_count &&
            before(&held->events[child + 1], &held->events[child]))
            child++;
        if (!before(&held->events[child], &last))
            break;
        held->events[at] = held->events[child];
        at = child;
    }
    held->events[at] = last;
}

/* Removes the one at (at). */
static void remove(struct prof_held *held, uint32_t at)
{
    struct prof_held_event last = held->events[--held->heap_count];

    if (at == held->heap_count)
        return;
    if (before(&last, &held->events[at]))
        rise(held, last, at);
    else
        sink(held, last, at);
}

/* ---- both */

static bool queue_is_first(const struct prof_held *held)
{
    if (held->queue_begin == held->queue_end)
        return false;
    return held->heap_count == 0 ||
           before(&held->queue[held->queue_begin % PROF_HELD_QUEUE],
                  &held->events[0]);
}

static const struct prof_held_event *first(const struct prof_held *held)
{
    return queue_is_first(held)
               ? &held->queue[held->queue_begin % PROF_HELD_QUEUE]
               : &held->events[0];
}

bool prof_held_put(struct prof_held *held, uint64_t due, void *event)
{
    struct prof_held_event added = {due, held->order, held->origin, event};

    if (held->count == held->room)
        return false;
    if (!enqueue(held, &added))
        rise(held, added, held->heap_count++);
    held->order++;
    held->held++;
    if (++held->count > held->most)
        held->most = held->count;
    return true;
}

void *prof_held_first(const struct prof_held *held, uint64_t *due)
{
    const struct prof_held_event *event;

    if (held->count == 0)
        return NULL;
    event = first(held);
    *due = event->due;
    return event->event;
}

void *prof_held_take(struct prof_held *held, uint64_t virtual)
{
    const struct prof_held_event *event;

    if (held->count == 0)
        return NULL;
    event = first(held);
    if (event->due > virtual)
        return NULL;
    held->taken = *event;
    if (event == &held->events[0])
        remove(held, 0);
    else
        held->queue_begin++;
    held->count--;
    return held->taken.event;
}

bool prof_held_withdraw(struct prof_held *held, const void *event)
{
    uint32_t at = 0;

    if (dequeue(held, event)) {
        held->count--;
        return true;
    }
    while (at < held->heap_count && held->events[at].event != event)
        at++;
    if (at == held->heap_count)
        return false;
    remove(held, at);
    held->count--;
    return true;
}
