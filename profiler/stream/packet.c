/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Packets are padded to a multiple of eight bytes, so that in shared memory
 * one begins where the one before ended.
 */

#include "stream/packet.h"

#include "base/crc.h"

#include <stddef.h>

#define ALIGN 8u

_Static_assert(PROF_PACKET_DEFAULT % ALIGN == 0, "a full packet needs padding");

/* The short events are written by hand, for speed. That it agrees with the
 * table, tests/unit/host/events_test.c shows. */
#define BITS_time PROF_SHORT_TIME_BITS
#define BITS_node PROF_SHORT_NODE_BITS
#define BITS_offset PROF_SHORT_OFFSET_BITS
#define PROF_SHORT(NAME, name, tag, meaning, bits) bits
#define PROF_BITS(class, name, bits)                                           \
    _Static_assert((bits) == BITS_##class, "fields of a class are alike");
#include <prof/events.def>

/* An extended event's length is a byte. */
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    _Static_assert((kind) < PROF_KIND_EXTENDED ||                              \
                       sizeof(struct prof_event_##name) <= UINT8_MAX,          \
                   "too long for an extended event");
#include <prof/events.def>

/* No alignment, and no call for the few bytes of an event. */
static void copy(uint8_t *to, const void *from, uint32_t bytes)
{
    const uint8_t *next = from;
    uint32_t word;

    for (; bytes >= sizeof word; bytes -= (uint32_t)sizeof word) {
        __builtin_memcpy(&word, next, sizeof word);
        prof_packet_word(to, word);
        next += sizeof word;
        to += sizeof word;
    }
    while (bytes-- > 0)
        *to++ = *next++;
}

bool prof_packet_fits(const struct prof_packet_maker *packet, uint32_t bytes)
{
    uint32_t used = packet->used != 0 ? packet->used : PROF_PACKET_BYTES;

    return used + bytes <= sizeof packet->data;
}

static uint8_t *next_event(struct prof_packet_maker *packet, uint64_t clock)
{
    if (packet->used == 0) {
        packet->begin = packet->end = clock;
        packet->used = PROF_PACKET_BYTES;
        packet->bytes = 0;
    }
    return packet->data + packet->used;
}

void prof_packet_put(struct prof_packet_maker *packet, enum prof_event kind,
                     uint64_t clock, const void *fields, uint32_t bytes)
{
    uint8_t *to = next_event(packet, clock);
    uint32_t time = (uint32_t)clock & PROF_EVENT_TIME_MASK;
    bool extended = kind >= PROF_KIND_EXTENDED;
    uint32_t code = extended ? PROF_KIND_ESCAPE : (uint32_t)kind;

    prof_packet_word(to, time << (PROF_EVENT_TAG_BITS + PROF_EVENT_KIND_BITS) |
                             code << PROF_EVENT_TAG_BITS | PROF_EVENT_OTHER);
    /* the fields of a brief event come over the highest byte */
    to += prof_event_is_brief(kind) ? PROF_EVENT_BRIEF_BYTES
                                    : PROF_EVENT_HEAD_BYTES;
    if (extended) {
        *to++ = (uint8_t)kind;
        *to++ = (uint8_t)bytes;
    }
    copy(to, fields, bytes);
    prof_packet_count_in(packet, clock, prof_packet_event_bytes(kind, bytes));
}

void prof_packet_sample(struct prof_packet_maker *packet, uint64_t clock,
                        uint32_t node)
{
    uint16_t narrow = (uint16_t)node;

    (void)next_event(packet, clock);
    if (prof_packet_short_sample(packet, clock, node))
        return;
    if (narrow == node)
        prof_packet_put(packet, PROF_EVENT_SAMPLE_LATE, clock, &narrow,
                        sizeof narrow);
    else
        prof_packet_put(packet, PROF_EVENT_SAMPLE_WIDE, clock, &node,
                        sizeof node);
}

void prof_packet_node(struct prof_packet_maker *packet, uint64_t clock,
                      const struct prof_packet_node *node)
{
    struct prof_event_node_wide wide = {node->node, node->parent,
                                        node->address};
    uint8_t *to = next_event(packet, clock);
    uint32_t head = node->node << PROF_EVENT_TAG_BITS | PROF_EVENT_NODE;

    if (node->node >> PROF_SHORT_NODE_BITS == 0 &&
        prof_packet_write_parent(packet, to + 2, node)) {
        to[0] = (uint8_t)head;
        to[1] = (uint8_t)(head >> 8);
        prof_packet_count_in(packet, packet->end, PROF_NODE_BYTES);
    } else {
        prof_packet_put(packet, PROF_EVENT_NODE_WIDE, packet->end, &wide,
                        sizeof wide);
    }
}

void prof_packet_leaf(struct prof_packet_maker *packet, uint64_t clock,
                      const struct prof_packet_node *leaf)
{
    (void)next_event(packet, clock);
    if (prof_packet_short_leaf(packet, clock, leaf))
        return;
    prof_packet_node(packet, clock, leaf);
    prof_packet_sample(packet, clock, leaf->node);
}

void prof_packet_close(struct prof_packet_maker *packet,
                       const struct prof_packet_label *label)
{
    struct prof_packet head = {
        .magic = PROF_PACKET_MAGIC,
        .begin = packet->begin,
        .end = packet->end,
        .discarded = label->discarded,
        .content_bits = packet->used * 8,
        .sequence = label->sequence,
        .cpu = label->cpu,
        .version = PROF_FORMAT_VERSION,
        .text_begin = packet->text_begin,
    };

    packet->bytes = (packet->used + ALIGN - 1) / ALIGN * ALIGN;
    head.packet_bits = packet->bytes * 8;
    copy(head.uuid, label->uuid, sizeof head.uuid);
    for (uint32_t i = packet->used; i < packet->bytes; i++)
        packet->data[i] = 0;
    copy(packet->data, &head, sizeof head);
    prof_packet_word(packet->data + offsetof(struct prof_packet, crc),
                     prof_crc32c(0, packet->data, packet->used));
}

void prof_packet_clear(struct prof_packet_maker *packet)
{
    packet->used = 0;
    packet->bytes = 0;
}

void prof_packet_writer_send(struct prof_packet_writer *writer)
{
    struct prof_packet_maker *packet = &writer->packet;

    if (packet->bytes == 0)
        prof_packet_close(packet, &writer->label);
    writer->stuck = !writer->transport->send(packet->data, packet->bytes);
    if (writer->stuck)
        return;
    writer->label.sequence++;
    packet->used = 0;
}
