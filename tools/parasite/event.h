/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EVENT_H
#define EVENT_H

/*
 * The events of a packet, one after the other, with their whole times. Which
 * fields of struct event mean something follows from its kind.
 */

#include "packet.h"

#include <prof/format.h>

struct event {
    enum prof_event kind;
    uint64_t time;        /* clocks */
    uint64_t address;     /* NODE, LEAF, SPILL; TASK: function that it runs */
    uint64_t clocks;      /* SPILL, DROP */
    uint32_t node;        /* NODE, LEAF, SAMPLE */
    uint32_t parent;      /* NODE, LEAF */
    uint32_t samples;     /* SPILL, DROP, STOPPED_WALK; MISS: ticks */
    uint32_t task;        /* TASK, SWITCH */
    uint32_t rate_mhz;    /* START: samples in 1000 s */
    uint32_t depth;       /* START */
    uint32_t reason;      /* STOPPED_WALK: enum prof_walk_stop */
    uint32_t code;        /* BYE */
    const uint8_t *hello; /* HELLO: struct prof_event_hello, packed */
};

struct event_reader {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t clock;
    uint64_t text_begin; /* that offsets are from */
};

void event_begin(struct event_reader *reader, const struct packet *packet);

/* The next event; the late and the wide forms come out as NODE and SAMPLE.
 * False at the end, and at an event that is unknown or cut; then reader->at is
 * not reader->end. */
bool event_next(struct event_reader *reader, struct event *event);

#endif
