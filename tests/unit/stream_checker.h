/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STREAM_CHECKER_H
#define STREAM_CHECKER_H

/*
 * A way out that keeps packets, and a small reader that knows nothing but
 * <prof/format.h>: it checks each packet's head and keeps every event with its
 * whole time, for a test to look at.
 */

#include <prof/format.h>
#include <prof/out.h>
#include <stdlib.h>
#include <string.h>

#include "../../profiler/src/crc.h"

#define KEPT_MAX 4096u
#define EVENTS_MAX (1u << 20)
#define NODES_MAX (1u << 17)

static struct kept {
    size_t bytes;
    uint8_t data[PROF_PACKET_DEFAULT];
} kept[KEPT_MAX];
static unsigned kept_count;
static unsigned kept_refuse; /* this many are refused from now on */
static unsigned kept_asked;  /* times that a packet was offered */

static struct seen {
    enum prof_event kind;
    uint64_t clock;
    unsigned packet;
    uint8_t fields[sizeof(struct prof_event_hello)];
} seen[EVENTS_MAX];
static unsigned seen_count;

static struct {
    uint32_t parent;
    uint64_t address;
    unsigned told;
} known[NODES_MAX];

static bool keep_open(void)
{
    return true;
}

static bool keep(const void *packet, size_t bytes)
{
    kept_asked++;
    if (kept_refuse > 0) {
        kept_refuse--;
        return false;
    }
    assert_true(kept_count < KEPT_MAX && bytes <= PROF_PACKET_DEFAULT);
    memcpy(kept[kept_count].data, packet, bytes);
    kept[kept_count++].bytes = bytes;
    return true;
}

static const struct prof_out keeper = {
    .name = "keeper",
    .open = keep_open,
    .send = keep,
};

static size_t field_bytes(enum prof_event kind)
{
    static const size_t bytes[] = {
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

    assert_true(kind < sizeof bytes / sizeof *bytes);
    return bytes[kind];
}

static void know(const struct seen *event)
{
    struct prof_event_node_wide wide;
    struct prof_event_node narrow;

    if (event->kind == PROF_EVENT_NODE) {
        memcpy(&narrow, event->fields, sizeof narrow);
        wide = (struct prof_event_node_wide){narrow.node, narrow.parent,
                                             narrow.address};
    } else if (event->kind == PROF_EVENT_NODE_WIDE) {
        memcpy(&wide, event->fields, sizeof wide);
    } else {
        return;
    }
    assert_true(wide.node < NODES_MAX);
    if (known[wide.node].told++ > 0) {
        assert_int_equal(known[wide.node].parent, wide.parent);
        assert_true(known[wide.node].address == wide.address);
    }
    known[wide.node].parent = wide.parent;
    known[wide.node].address = wide.address;
}

/* The whole time of an event whose head says (low), after (clock). */
static uint64_t unwrap(uint64_t clock, uint32_t low)
{
    uint64_t wrap = (uint64_t)1 << PROF_EVENT_TIME_BITS;
    uint64_t whole = (clock & ~(wrap - 1)) | low;

    return whole < clock ? whole + wrap : whole;
}

static uint64_t see_events(unsigned number, const struct prof_packet *head,
                           const uint8_t *next, const uint8_t *end)
{
    uint64_t clock = head->begin;

    while (next < end) {
        struct seen *event = &seen[seen_count++];
        uint32_t word;
        size_t bytes;

        assert_true(seen_count <= EVENTS_MAX && end - next >= 4);
        memcpy(&word, next, 4);
        event->kind = word & ((1u << PROF_EVENT_KIND_BITS) - 1);
        event->packet = number;
        event->clock = clock = unwrap(clock, word >> PROF_EVENT_KIND_BITS);
        bytes = field_bytes(event->kind);
        assert_true((size_t)(end - next) >= 4 + bytes);
        memcpy(event->fields, next + 4, bytes);
        if (event->kind == PROF_EVENT_CLOCK)
            assert_memory_equal(event->fields, &clock, 8);
        know(event);
        next += 4 + bytes;
    }
    return clock;
}

static void see_packet(unsigned number)
{
    const struct kept *packet = &kept[number];
    uint8_t copy[PROF_PACKET_DEFAULT];
    struct prof_packet head;
    uint32_t crc;

    assert_true(packet->bytes > PROF_PACKET_BYTES && packet->bytes % 8 == 0);
    memcpy(&head, packet->data, sizeof head);
    assert_int_equal(head.magic, PROF_PACKET_MAGIC);
    assert_int_equal(head.packet_bits, packet->bytes * 8);
    assert_true(head.content_bits % 8 == 0 &&
                head.content_bits <= head.packet_bits &&
                head.packet_bits - head.content_bits < 64);
    memcpy(copy, packet->data, head.content_bits / 8);
    crc = head.crc;
    memset(copy + offsetof(struct prof_packet, crc), 0, 4);
    assert_int_equal(prof_crc32c(0, copy, head.content_bits / 8), crc);
    assert_true(head.begin <= head.end);
    assert_true(see_events(number, &head, packet->data + sizeof head,
                           packet->data + head.content_bits / 8) == head.end);
}

/* Reads all that was kept, but for packet number (lost). */
static void see_all_but(unsigned lost)
{
    seen_count = 0;
    memset(known, 0, sizeof known);
    for (unsigned i = 0; i < kept_count; i++)
        if (i != lost)
            see_packet(i);
}

static void see_all(void)
{
    see_all_but(UINT32_MAX);
}

/* Event number (number) of kind (kind), counted from 0; NULL where none is. */
static const struct seen *nth(enum prof_event kind, unsigned number)
{
    for (unsigned i = 0; i < seen_count; i++)
        if (seen[i].kind == kind && number-- == 0)
            return &seen[i];
    return NULL;
}

static unsigned count_of(enum prof_event kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < seen_count; i++)
        count += seen[i].kind == kind;
    return count;
}

#endif
