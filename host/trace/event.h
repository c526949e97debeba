/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

/*
 * The events of a packet, one after the other, with their whole times. All of
 * this is made from <prof/events.def>: the fields of an event `start` are in
 * event.as_start, a struct event_start. Which of the fields mean something
 * follows from the kind.
 */

#include "trace/packet.h"

#include <prof/format.h>

/* What is narrow in the stream is as wide here as in the event's other form:
 * numbers of objects are whole, a text is in the packet. */
#undef PROF_FIELD_near
#undef PROF_FIELD_tiny
#undef PROF_FIELD_name8
#undef PROF_FIELD_int16
#undef PROF_FIELD_text
#define PROF_FIELD_near(name) uint32_t name;
#define PROF_FIELD_tiny(name) uint32_t name;
#define PROF_FIELD_name8(name) uint16_t name;
#define PROF_FIELD_int16(name) int64_t name;
#define PROF_FIELD_text(name) const char *name;

/* The number of an object that the guest does not know. */
#define EVENT_UNKNOWN_OBJECT UINT32_MAX

#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    struct event_##name {                                                      \
        fields                                                                 \
    };
#define PROF_FIELD(type, name, meaning) PROF_FIELD_##type(name)
#include <prof/events.def>

struct event {
    enum prof_event kind;
    uint64_t time;    /* clocks */
    uint64_t address; /* NODE, LEAF */
    uint32_t node;    /* NODE, LEAF, SAMPLE */
    uint32_t parent;  /* NODE, LEAF */
    union {
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    struct event_##name as_##name;
#include <prof/events.def>
    };
};

struct event_reader {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t clock;
    uint64_t text_begin; /* that offsets are from */
    uint32_t first;      /* that near numbers are from */
    uint32_t recent;     /* and tiny ones */
    bool passed_over;    /* something was there that is not known here */
};

void event_begin(struct event_reader *reader, const struct packet *packet);

/* The next event; late, wide and brief forms come out as the plain ones.
 * Extended events of unknown kinds are passed over. False at the end, and at an
 * event that is cut or otherwise unknown; then reader->at is not
 * reader->end. */
bool event_next(struct event_reader *reader, struct event *event);

/* After the last event: whether all of the packet was understood. */
static inline bool event_all(const struct event_reader *reader)
{
    return reader->at == reader->end && !reader->passed_over;
}

/* How many samples (event) is worth; 0 if it is none. */
static inline uint32_t event_samples(const struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_SAMPLE:
    case PROF_EVENT_LEAF:
    case PROF_EVENT_IDLE:
        return 1;
    case PROF_EVENT_OVERFLOW:
        return event->as_overflow.samples;
    case PROF_EVENT_DROP:
        return event->as_drop.samples;
    default:
        return 0;
    }
}

/* What events of (kind) are called, "unknown" where there are none. */
const char *event_name(enum prof_event kind);

#endif
