/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STREAM_CHECKER_H
#define STREAM_CHECKER_H

/*
 * A way out that keeps packets, and a small reader that knows nothing but
 * <prof/format.h>: it checks each packet's head and keeps every event with its
 * whole time, for a test to look at.
 */

#include <prof/format.h>
#include <prof/transport.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"

#define KEPT_MAX 4096u
#ifndef EVENTS_MAX /* a test may want longer events, and fewer of them */
#define EVENTS_MAX (1u << 20)
#define FIELDS_MAX sizeof(struct prof_event_causal)
#endif
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
    uint32_t node; /* SAMPLE, LEAF and NODE in all forms */
    uint8_t fields[FIELDS_MAX];
} seen[EVENTS_MAX];
static unsigned seen_count;

static struct {
    uint32_t parent;
    uint64_t address;
    unsigned defined; /* times */
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

static const struct prof_transport keeper = {
    .name = "keeper",
    .open = keep_open,
    .send = keep,
};

/* Bytes of the fields of (kind), which is not short. */
static size_t field_bytes(enum prof_event kind)
{
    switch (kind) {
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    case kind:                                                                 \
        return sizeof(struct prof_event_##name);
#define PROF_BARE(NAME, name, kind, meaning)                                   \
    case kind:                                                                 \
        return 0;
#include <prof/events.def>
    default:
        assert_true(false);
        return 0;
    }
}

/* The number in bits [from, from + count) of what begins at (at). */
static uint64_t bits_at(const uint8_t *at, unsigned from, unsigned count)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned bit = from + i;

        number |= (uint64_t)(at[bit / 8] >> bit % 8 & 1) << i;
    }
    return number;
}

static void know(uint64_t node, uint64_t parent, uint64_t address)
{
    assert_true(node < NODES_MAX);
    if (known[node].defined++ > 0) {
        assert_int_equal(known[node].parent, parent);
        assert_true(known[node].address == address);
    }
    known[node].parent = (uint32_t)parent;
    known[node].address = address;
}

/* The whole time of an event whose head says the (bits) bits (low), after
 * (clock). */
static uint64_t unwrap(uint64_t clock, uint64_t low, unsigned bits)
{
    uint64_t wrap = (uint64_t)1 << bits;
    uint64_t whole = (clock & ~(wrap - 1)) | low;

    return whole < clock ? whole + wrap : whole;
}

/* Keeps the short event at (at), and returns its length. */
static size_t see_short(struct seen *event, const uint8_t *at,
                        uint64_t text_begin)
{
    static const size_t bytes[] = {4, 9, 7};
    unsigned time_bits = event->kind == PROF_EVENT_NODE ? 0 : 16;

    if (time_bits > 0)
        event->clock = unwrap(event->clock, bits_at(at, 2, 16), 16);
    event->node = (uint32_t)bits_at(at, 2 + time_bits, 14);
    if (event->kind != PROF_EVENT_SAMPLE)
        know(event->node, bits_at(at, 16 + time_bits, 14),
             text_begin + bits_at(at, 30 + time_bits, 26));
    return bytes[event->kind];
}

/* The same for one of the others; there are (room) bytes. */
static size_t see_other(struct seen *event, const uint8_t *at, size_t room)
{
    struct prof_event_node_wide wide;
    unsigned kind = (unsigned)bits_at(at, 2, 6);
    size_t head = kind >= 57 && kind <= 62 ? 3 : kind == 63 ? 6 : 4, bytes;
    unsigned time_bits = head == 3 ? 16 : 24;

    assert_true(room >= head);
    event->kind = (enum prof_event)(kind == 63 ? at[4] : kind);
    event->clock = unwrap(event->clock, bits_at(at, 8, time_bits), time_bits);
    bytes = kind == 63 ? at[5] : field_bytes(event->kind);
    assert_true(room >= head + bytes && bytes <= sizeof event->fields);
    memcpy(event->fields, at + head, bytes);
    if (event->kind == PROF_EVENT_CLOCK)
        assert_memory_equal(event->fields, &event->clock, 8);
    if (event->kind == PROF_EVENT_SAMPLE_LATE)
        event->node = (uint32_t)bits_at(at, 32, 16);
    if (event->kind == PROF_EVENT_SAMPLE_WIDE)
        event->node = (uint32_t)bits_at(at, 32, 32);
    if (event->kind == PROF_EVENT_NODE_WIDE) {
        memcpy(&wide, event->fields, sizeof wide);
        event->node = wide.node;
        know(wide.node, wide.parent, wide.address);
    }
    return head + bytes;
}

static uint64_t see_events(unsigned number, const struct prof_packet *head,
                           const uint8_t *next, const uint8_t *end)
{
    uint64_t clock = head->begin;

    while (next < end) {
        struct seen *event = &seen[seen_count++];
        size_t bytes;

        assert_true(seen_count <= EVENTS_MAX);
        *event = (struct seen){.clock = clock, .packet = number};
        event->kind = (enum prof_event)(*next & 3);
        if (event->kind == 3)
            bytes = see_other(event, next, (size_t)(end - next));
        else
            bytes = see_short(event, next, head->text_begin);
        clock = event->clock;
        next += bytes;
        assert_true(next <= end);
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
    assert_int_equal(head.version, PROF_FORMAT_VERSION);
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

/* Reads the packets numbered [first, end). */
static inline void see_from(unsigned first, unsigned end)
{
    seen_count = 0;
    memset(known, 0, sizeof known);
    for (unsigned i = first; i < end; i++)
        see_packet(i);
}

/* Reads all that was kept, but for packet number (lost). */
static inline void see_all_but(unsigned lost)
{
    seen_count = 0;
    memset(known, 0, sizeof known);
    for (unsigned i = 0; i < kept_count; i++)
        if (i != lost)
            see_packet(i);
}

static inline void see_all(void)
{
    see_from(0, kept_count);
}

/* Event number (number) of kind (kind), counted from 0; NULL where none is. */
static inline const struct seen *nth(enum prof_event kind, unsigned number)
{
    for (unsigned i = 0; i < seen_count; i++)
        if (seen[i].kind == kind && number-- == 0)
            return &seen[i];
    return NULL;
}

/* Whether it is a sample of a stack, in any form. */
static bool is_sample(const struct seen *event)
{
    return event->kind == PROF_EVENT_SAMPLE || event->kind == PROF_EVENT_LEAF ||
           event->kind == PROF_EVENT_SAMPLE_LATE ||
           event->kind == PROF_EVENT_SAMPLE_WIDE;
}

/* Sample number (number), counted from 0; NULL where none is. */
static inline const struct seen *nth_sample(unsigned number)
{
    for (unsigned i = 0; i < seen_count; i++)
        if (is_sample(&seen[i]) && number-- == 0)
            return &seen[i];
    return NULL;
}

static inline unsigned count_of_samples(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < seen_count; i++)
        count += is_sample(&seen[i]);
    return count;
}

static inline unsigned count_of(enum prof_event kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < seen_count; i++)
        count += seen[i].kind == kind;
    return count;
}

#endif
