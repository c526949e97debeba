/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads events field by field. The wide forms of NODE and SAMPLE come out as
 * the narrow ones: what they say is the same.
 */

#include "event.h"

#include "bytes.h"

/* Bytes of each kind's fields. */
static const uint8_t field_bytes[] = {
    [PROF_EVENT_HELLO] = sizeof(struct prof_event_hello),
    [PROF_EVENT_START] = sizeof(struct prof_event_start),
    [PROF_EVENT_STOP] = 0,
    [PROF_EVENT_CLOCK] = 8,
    [PROF_EVENT_NODE] = sizeof(struct prof_event_node),
    [PROF_EVENT_NODE_WIDE] = sizeof(struct prof_event_node_wide),
    [PROF_EVENT_SAMPLE] = 2,
    [PROF_EVENT_SAMPLE_WIDE] = 4,
    [PROF_EVENT_IDLE] = 0,
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
}

/* The low bits of the clock came; it never goes back. */
static uint64_t wound_clock(uint64_t clock, uint32_t low)
{
    uint64_t mask = PROF_EVENT_TIME_MASK;

    if (low < (clock & mask))
        clock += mask + 1;
    return (clock & ~mask) | low;
}

static void read_stack(struct event *event, const uint8_t *at)
{
    switch (event->kind) {
    case PROF_EVENT_NODE:
        event->node = le16(at);
        event->parent = le16(at + 2);
        event->address = le32(at + 4);
        break;
    case PROF_EVENT_NODE_WIDE:
        event->kind = PROF_EVENT_NODE;
        event->node = le32(at);
        event->parent = le32(at + 4);
        event->address = le64(at + 8);
        break;
    case PROF_EVENT_SAMPLE:
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
    case PROF_EVENT_NODE:
    case PROF_EVENT_NODE_WIDE:
    case PROF_EVENT_SAMPLE:
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

bool event_next(struct event_reader *reader, struct event *event)
{
    size_t left = (size_t)(reader->end - reader->at);
    const uint8_t *fields = reader->at + 4;
    uint32_t head, kind;

    if (left < 4)
        return false;
    head = le32(reader->at);
    kind = head & ((1u << PROF_EVENT_KIND_BITS) - 1);
    if (kind >= KINDS || left - 4 < field_bytes[kind])
        return false;
    reader->clock = wound_clock(reader->clock, head >> PROF_EVENT_KIND_BITS);
    if (kind == PROF_EVENT_CLOCK && le64(fields) > reader->clock)
        reader->clock = le64(fields);
    *event = (struct event){.kind = kind, .time = reader->clock};
    read_fields(event, fields);
    reader->at = fields + field_bytes[kind];
    return true;
}
