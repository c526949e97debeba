/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads events field by field. The other forms of NODE and SAMPLE come out as
 * the short ones: what they say is the same.
 */

#include "event.h"

#include "bytes.h"

#define LOW_BITS(value, bits) ((uint32_t)(value) & ((1u << (bits)) - 1u))

/* Bytes of the short events, whole. */
static const uint8_t short_bytes[] = {
    [PROF_EVENT_SAMPLE] = PROF_SAMPLE_BYTES,
    [PROF_EVENT_LEAF] = PROF_LEAF_BYTES,
    [PROF_EVENT_NODE] = PROF_NODE_BYTES,
};

#define NO_KIND UINT8_MAX

/* Bytes of the other kinds' fields. */
static const uint8_t field_bytes[] = {
    [PROF_EVENT_SAMPLE] = NO_KIND,
    [PROF_EVENT_LEAF] = NO_KIND,
    [PROF_EVENT_NODE] = NO_KIND,
    [PROF_EVENT_SAMPLE_LATE] = 2,
    [PROF_EVENT_SAMPLE_WIDE] = 4,
    [PROF_EVENT_NODE_WIDE] = sizeof(struct prof_event_node_wide),
    [PROF_EVENT_IDLE] = 0,
    [PROF_EVENT_HELLO] = sizeof(struct prof_event_hello),
    [PROF_EVENT_START] = sizeof(struct prof_event_start),
    [PROF_EVENT_STOP] = 0,
    [PROF_EVENT_CLOCK] = 8,
    [PROF_EVENT_SPILL] = sizeof(struct prof_event_spill),
    [PROF_EVENT_DROP] = sizeof(struct prof_event_drop),
    [PROF_EVENT_MISS] = 4,
    [PROF_EVENT_TASK] = sizeof(struct prof_event_task),
    [PROF_EVENT_SWITCH] = 4,
    [PROF_EVENT_STOPPED_WALK] = sizeof(struct prof_event_stopped_walk),
    [PROF_EVENT_BYE] = 4,
};
#define KINDS (sizeof field_bytes / sizeof field_bytes[0])

void event_begin(struct event_reader *reader, const struct packet *packet)
{
    reader->at = packet->events;
    reader->end = packet->events + packet->events_bytes;
    reader->clock = packet->begin;
    reader->text_begin = packet->text_begin;
}

/* The low (bits) bits of the clock came; it never goes back. */
static uint64_t wound_clock(uint64_t clock, uint32_t low, unsigned bits)
{
    uint64_t mask = (1ull << bits) - 1;

    if (low < (clock & mask))
        clock += mask + 1;
    return (clock & ~mask) | low;
}

/* Reads parent:14 offset:26. */
static void read_parent(struct event *event, const uint8_t *at,
                        uint64_t text_begin)
{
    uint64_t bits = le32(at) | (uint64_t)at[4] << 32;

    event->parent = LOW_BITS(bits, PROF_SHORT_NODE_BITS);
    event->address = text_begin + (bits >> PROF_SHORT_NODE_BITS);
}

/* Reads a short event, which is there whole. */
static void read_short(struct event_reader *reader, struct event *event)
{
    const uint8_t *at = reader->at;
    uint32_t head = le16(at) >> PROF_EVENT_TAG_BITS;

    if (event->kind == PROF_EVENT_NODE) {
        event->node = head;
        read_parent(event, at + 2, reader->text_begin);
        return;
    }
    head = le32(at) >> PROF_EVENT_TAG_BITS;
    reader->clock =
        wound_clock(reader->clock, LOW_BITS(head, PROF_SHORT_TIME_BITS),
                    PROF_SHORT_TIME_BITS);
    event->node = head >> PROF_SHORT_TIME_BITS;
    if (event->kind == PROF_EVENT_LEAF)
        read_parent(event, at + PROF_SAMPLE_BYTES, reader->text_begin);
}

static void read_stack(struct event *event, const uint8_t *at)
{
    switch (event->kind) {
    case PROF_EVENT_NODE_WIDE:
        event->kind = PROF_EVENT_NODE;
        event->node = le32(at);
        event->parent = le32(at + 4);
        event->address = le64(at + 8);
        break;
    case PROF_EVENT_SAMPLE_LATE:
        event->kind = PROF_EVENT_SAMPLE;
        event->node = le16(at);
        break;
    default:
        event->kind = PROF_EVENT_SAMPLE;
        event->node = le32(at);
        break;
    }
}

static void read_counts(struct event *event, const uint8_t *at)
{
    switch (event->kind) {
    case PROF_EVENT_SPILL:
        event->address = le64(at);
        event->samples = le32(at + 8);
        event->clocks = le64(at + 12);
        break;
    case PROF_EVENT_DROP:
        event->samples = le32(at);
        event->clocks = le64(at + 4);
        break;
    case PROF_EVENT_MISS:
        event->samples = le32(at);
        break;
    default: /* STOPPED_WALK */
        event->reason = le16(at);
        event->samples = le32(at + 2);
        break;
    }
}

static void read_rest(struct event *event, const uint8_t *at)
{
    switch (event->kind) {
    case PROF_EVENT_HELLO:
        event->hello = at;
        break;
    case PROF_EVENT_START:
        event->rate_mhz = le32(at);
        event->depth = le32(at + 4);
        break;
    case PROF_EVENT_TASK:
        event->task = le32(at);
        event->address = le64(at + 4);
        break;
    case PROF_EVENT_SWITCH:
        event->task = le32(at);
        break;
    case PROF_EVENT_BYE:
        event->code = le32(at);
        break;
    default: /* STOP, IDLE, CLOCK: no fields that are left */
        break;
    }
}

static void read_fields(struct event *event, const uint8_t *at)
{
    switch (event->kind) {
    case PROF_EVENT_NODE_WIDE:
    case PROF_EVENT_SAMPLE_LATE:
    case PROF_EVENT_SAMPLE_WIDE:
        read_stack(event, at);
        break;
    case PROF_EVENT_SPILL:
    case PROF_EVENT_DROP:
    case PROF_EVENT_MISS:
    case PROF_EVENT_STOPPED_WALK:
        read_counts(event, at);
        break;
    default:
        read_rest(event, at);
        break;
    }
}

/* The next event, whose head says that its kind follows. */
static bool next_other(struct event_reader *reader, struct event *event,
                       size_t left)
{
    const uint8_t *fields = reader->at + PROF_EVENT_HEAD_BYTES;
    uint32_t head, kind;

    if (left < PROF_EVENT_HEAD_BYTES)
        return false;
    head = le32(reader->at) >> PROF_EVENT_TAG_BITS;
    kind = LOW_BITS(head, PROF_EVENT_KIND_BITS);
    if (kind >= KINDS || field_bytes[kind] == NO_KIND ||
        left - PROF_EVENT_HEAD_BYTES < field_bytes[kind])
        return false;
    reader->clock = wound_clock(reader->clock, head >> PROF_EVENT_KIND_BITS,
                                PROF_EVENT_TIME_BITS);
    if (kind == PROF_EVENT_CLOCK && le64(fields) > reader->clock)
        reader->clock = le64(fields);
    event->kind = kind;
    read_fields(event, fields);
    reader->at = fields + field_bytes[kind];
    return true;
}

bool event_next(struct event_reader *reader, struct event *event)
{
    size_t left = (size_t)(reader->end - reader->at);
    uint32_t tag;

    if (left == 0)
        return false;
    *event = (struct event){0};
    tag = LOW_BITS(*reader->at, PROF_EVENT_TAG_BITS);
    if (tag == PROF_EVENT_OTHER) {
        if (!next_other(reader, event, left))
            return false;
    } else {
        if (left < short_bytes[tag])
            return false;
        event->kind = tag;
        read_short(reader, event);
        reader->at += short_bytes[tag];
    }
    event->time = reader->clock;
    return true;
}
