/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/held.h"

void prof_held_init(struct prof_held *held, struct prof_held_event *events,
                    uint32_t room)
{
    *held = (struct prof_held){.events = events, .room = room};
}

static bool before(const struct prof_held_event *a,
                   const struct prof_held_event *b)
{
    if (a->due != b->due)
        return a->due < b->due;
    return (int32_t)(a->order - b->order) < 0;
}

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

bool prof_held_put(struct prof_held *held, uint64_t due, void *event)
{
    struct prof_held_event added = {due, held->order, held->origin, event};

    if (held->count == held->room)
        return false;
    rise(held, added, held->count);
    held->order++;
    held->held++;
    if (++held->count > held->most)
        held->most = held->count;
    return true;
}

void *prof_held_first(const struct prof_held *held, uint64_t *due)
{
    if (held->count == 0)
        return NULL;
    *due = held->events[0].due;
    return held->events[0].event;
}

/* Moves up the smaller child from (at), which is free, until (last) fits. */
static void sink(struct prof_held *held, struct prof_held_event last,
                 uint32_t at)
{
    uint32_t child;

    while ((child = 2 * at + 1) < held->count) {
        if (child + 1 < held->count &&
            before(&held->events[child + 1], &held->events[child]))
            child++;
        if (!before(&held->events[child], &last))
            break;
        held->events[at] = held->events[child];
        at = child;
    }
    held->events[at] = last;
}

void *prof_held_take(struct prof_held *held, uint64_t virtual)
{
    void *event;

    if (held->count == 0 || held->events[0].due > virtual)
        return NULL;
    event = held->events[0].event;
    held->count--;
    if (held->count != 0)
        sink(held, held->events[held->count], 0);
    return event;
}

bool prof_held_withdraw(struct prof_held *held, const void *event)
{
    struct prof_held_event last;
    uint32_t at = 0;

    while (at < held->count && held->events[at].event != event)
        at++;
    if (at == held->count)
        return false;
    last = held->events[--held->count];
    if (at == held->count)
        return true;
    if (before(&last, &held->events[at]))
        rise(held, last, at);
    else
        sink(held, last, at);
    return true;
}
