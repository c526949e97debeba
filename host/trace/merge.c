/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of all CPUs in the order of their time. A packet has those of one
 * CPU, up to a second of them, so packets of several overlap. Each CPU is a
 * lane that stands at its next event, or at the head of its next packet; the
 * lane with the earliest goes on until it is later than the others.
 */

#include "trace/trace.h"

#include "base/memory.h"

#include <stdlib.h>

struct lane {
    const struct trace *trace;
    uint32_t *packets; /* numbers in the index */
    size_t count;
    size_t next;
    struct packet packet;
    struct event_reader reader;
    struct event event;
    uint64_t time; /* of what comes next */
    bool begun;    /* that is an event, otherwise a packet's head */
    bool there;    /* there is something */
};

struct lanes {
    struct lane *all;
    size_t count;
    struct index numbers; /* of CPUs */
};

static void find_lanes(struct lanes *lanes, const struct trace *trace)
{
    for (size_t i = 0; i < trace->index.count; ++i) {
        bool is_new;
        uint32_t number =
            index_add(&lanes->numbers, trace->index.packets[i].cpu, &is_new);
        struct lane *lane;

        if (is_new) {
            vector_reserve_one(&lanes->all, lanes->count, sizeof *lanes->all);
            lanes->all[lanes->count++] = (struct lane){.trace = trace};
        }
        lane = &lanes->all[number];
        VECTOR_ADD(lane->packets, lane->count, (uint32_t)i);
    }
}

/* Goes on to the head of the next packet that is good. Checksums are verified
 * each time: the file may be written meanwhile. */
static void next_packet(struct lane *lane)
{
    lane->begun = false;
    while (lane->next < lane->count) {
        const struct packet_entry *where =
            &lane->trace->index.packets[lane->packets[lane->next++]];

        lane->there = packet_check(lane->trace->bytes + where->offset,
                                   where->bytes, &lane->packet) == PACKET_GOOD;
        lane->time = lane->packet.begin;
        if (lane->there)
            return;
    }
    lane->there = false;
}

static void next_event(struct lane *lane, uint32_t number,
                       const struct event_sink *sink)
{
    if (event_next(&lane->reader, &lane->event)) {
        lane->time = lane->event.time;
        return;
    }
    sink->end(sink->owner, number, &lane->reader);
    next_packet(lane);
}

static void step(struct lane *lane, uint32_t number,
                 const struct event_sink *sink)
{
    if (lane->begun) {
        sink->event(sink->owner, number, &lane->event);
        next_event(lane, number, sink);
        return;
    }
    if (!sink->begin(sink->owner, number, &lane->packet)) {
        next_packet(lane);
        return;
    }
    event_begin(&lane->reader, &lane->packet);
    lane->begun = true;
    next_event(lane, number, sink);
}

/* The lane that is first, the count of lanes if there is none; and the time of
 * the one after it. */
static size_t find_first(const struct lanes *lanes, uint64_t *after)
{
    size_t first = lanes->count;

    *after = UINT64_MAX;
    for (size_t i = 0; i < lanes->count; ++i) {
        const struct lane *lane = &lanes->all[i];

        if (!lane->there)
            continue;
        if (first == lanes->count || lane->time < lanes->all[first].time) {
            if (first < lanes->count)
                *after = lanes->all[first].time;
            first = i;
        } else if (lane->time < *after) {
            *after = lane->time;
        }
    }
    return first;
}

void trace_each_event(const struct trace *trace, const struct event_sink *sink)
{
    struct lanes lanes = {0};
    uint64_t after;
    size_t first;

    find_lanes(&lanes, trace);
    for (size_t i = 0; i < lanes.count; ++i)
        next_packet(&lanes.all[i]);
    while ((first = find_first(&lanes, &after)) < lanes.count) {
        struct lane *lane = &lanes.all[first];

        do
            step(lane, (uint32_t)first, sink);
        while (lane->there && lane->time <= after);
    }
    for (size_t i = 0; i < lanes.count; ++i)
        free(lanes.all[i].packets);
    free(lanes.all);
    index_free(&lanes.numbers);
}
