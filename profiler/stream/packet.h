/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PACKET_H
#define PROF_PACKET_H

/*
 * Packets (<prof/format.h>). Events are written to the current packet until it
 * is full or old; then it is closed, and offered to the transport until that
 * accepts it. An event counts only when it is complete, so a packet may be
 * closed at any time, also by a panic during one of these calls. Contexts:
 * thread. No allocation.
 */

#include "base/cpu.h"
#include "stream/interning.h"

#include <prof/format.h>
#include <prof/transport.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Converts the TSC to the stream's clock of PROF_CLOCK_HZ: by one
 * multiplication by a fraction, from a fixed origin, so that the error, below
 * one part in ten million, does not accumulate. */
struct prof_stream_clock {
    uint64_t zero_tsc; /* TSC at which the clock was 0 */
    uint32_t factor;   /* clocks per cycle, 0.32 */
};

/* Initialises (clock) for a TSC of (hz), above PROF_CLOCK_HZ and below 2^36. */
static inline void prof_stream_clock_set(struct prof_stream_clock *clock,
                                         uint64_t zero_tsc, uint64_t hz)
{
    uint64_t whole = (uint64_t)PROF_CLOCK_HZ << 32;

    clock->zero_tsc = zero_tsc;
    while (hz >> 32 != 0) {
        hz >>= 1;
        whole >>= 1;
    }
    clock->factor = hz > PROF_CLOCK_HZ
                        ? (uint32_t)prof_divide(whole, (uint32_t)hz)
                        : UINT32_MAX;
}

/* Converts (cycles) to clocks. */
static inline uint64_t
prof_stream_clock_span(const struct prof_stream_clock *clock, uint64_t cycles)
{
    return (cycles >> 32) * clock->factor +
           ((cycles & UINT32_MAX) * clock->factor >> 32);
}

/* Returns the clock at (tsc); 0 before its origin. */
static inline uint64_t
prof_stream_clock_at(const struct prof_stream_clock *clock, uint64_t tsc)
{
    uint64_t cycles = tsc - clock->zero_tsc;

    return (int64_t)cycles < 0 ? 0 : prof_stream_clock_span(clock, cycles);
}

struct prof_packet_maker {
    uint64_t begin;      /* clock of the first event */
    uint64_t end;        /* clock of the last event */
    uint64_t text_begin; /* begin of the image's code */
    uint32_t used;       /* bytes written, 0 = no event yet */
    uint32_t bytes;      /* when it is closed: size as sent */
    uint8_t data[PROF_PACKET_DEFAULT];
};

/* The position of a packet in the stream, for its header. */
struct prof_packet_label {
    uint8_t uuid[16];
    uint64_t discarded;
    uint32_t sequence;
    uint16_t cpu;
};

/* A node of the tree of stacks, as events define it. */
struct prof_packet_node {
    uint32_t node;
    uint32_t parent;
    uintptr_t address;
};

/* The most bytes of a sample, of the definition of a node, and of both. */
#define PROF_PACKET_SAMPLE_MAX (PROF_EVENT_HEAD_BYTES + 4u)
#define PROF_PACKET_NODE_MAX                                                   \
    (PROF_EVENT_HEAD_BYTES + (uint32_t)sizeof(struct prof_event_node_wide))
#define PROF_PACKET_LEAF_MAX (PROF_PACKET_NODE_MAX + PROF_PACKET_SAMPLE_MAX)

/* Returns whether (bytes) more fit, including heads of events. */
bool prof_packet_fits(const struct prof_packet_maker *packet, uint32_t bytes);

/*
 * The following write events, which MUST fit, to a packet that is not closed.
 * (clock) is the event's time, not before the last event; the time of a node
 * matters only if it is the packet's first event.
 */

/* Returns the size of an event of (kind), not a short one, with (bytes) of
 * fields. */
static inline uint32_t prof_packet_event_bytes(enum prof_event kind,
                                               uint32_t bytes)
{
    uint32_t extension = (uint32_t)sizeof(struct prof_event_extension);

    if (prof_event_is_brief(kind))
        return PROF_EVENT_BRIEF_BYTES + bytes;
    return PROF_EVENT_HEAD_BYTES + (kind < PROF_KIND_EXTENDED ? 0 : extension) +
           bytes;
}

/* Returns whether an event at (clock) may be of a brief kind, whose time has as
 * many bits as a sample's. */
static inline bool prof_packet_is_soon(const struct prof_packet_maker *packet,
                                       uint64_t clock)
{
    return packet->used == 0 ||
           (clock - packet->end) >> PROF_SHORT_TIME_BITS == 0;
}

/* Writes an event, not a short one. (fields) is a struct prof_event_NAME. */
void prof_packet_put(struct prof_packet_maker *packet, enum prof_event kind,
                     uint64_t clock, const void *fields, uint32_t bytes);

/* Write a sample of (node), the definition of a node, or both in one event, in
 * the shortest possible form. */
void prof_packet_sample(struct prof_packet_maker *packet, uint64_t clock,
                        uint32_t node);
void prof_packet_node(struct prof_packet_maker *packet, uint64_t clock,
                      const struct prof_packet_node *node);
void prof_packet_leaf(struct prof_packet_maker *packet, uint64_t clock,
                      const struct prof_packet_node *leaf);

/* Writes the header, after which data[0 .. bytes) may be sent. */
void prof_packet_close(struct prof_packet_maker *packet,
                       const struct prof_packet_label *label);

/* Begins the next packet. */
void prof_packet_clear(struct prof_packet_maker *packet);

/*
 * A sequence of packets on its way to a transport: the stream, or the dumps of
 * a flight recorder.
 */
struct prof_packet_writer {
    const struct prof_transport *transport; /* NULL: none */
    struct prof_stream_clock clock;
    struct prof_packet_label label; /* of the current packet */
    struct prof_interning interning;
    uint64_t last; /* clock of the last event, sent or discarded */
    bool stuck;    /* the transport has refused the packet, which is closed */
    struct prof_packet_maker packet; /* the current packet */
};

/* Returns the clock at (tsc), or of the last event if that was later. */
static inline uint64_t
prof_packet_writer_clock(const struct prof_packet_writer *writer, uint64_t tsc)
{
    uint64_t clock = prof_stream_clock_at(&writer->clock, tsc);

    return clock > writer->last ? clock : writer->last;
}

/* Offers the current packet to the transport, and begins the next one if it is
 * accepted. */
void prof_packet_writer_send(struct prof_packet_writer *writer);

/*
 * Short events, for nearly all samples, in a packet that has an event already.
 * Inline and written by hand, for speed; tests/unit/host/events_test.c checks
 * them against <prof/events.def>.
 */

/* Stores a word, which may be unaligned, in one instruction. */
static inline void prof_packet_word(uint8_t *to, uint32_t word)
{
    __builtin_memcpy(to, &word, sizeof word);
}

/* Counts the next (bytes) as an event at (clock). */
static inline void prof_packet_count_in(struct prof_packet_maker *packet,
                                        uint64_t clock, uint32_t bytes)
{
    packet->end = clock;
    __atomic_signal_fence(__ATOMIC_RELEASE); /* whole, then counted */
    packet->used += bytes;
}

/* Returns the first word of a SAMPLE or a LEAF. */
static inline uint32_t prof_packet_short_head(enum prof_event kind,
                                              uint64_t clock, uint32_t node)
{
    uint32_t time = (uint32_t)clock & ((1u << PROF_SHORT_TIME_BITS) - 1);

    return node << (PROF_EVENT_TAG_BITS + PROF_SHORT_TIME_BITS) |
           time << PROF_EVENT_TAG_BITS | (uint32_t)kind;
}

/* Returns whether a sample of (node) at (clock) can be a short event. */
static inline bool prof_packet_is_short(const struct prof_packet_maker *packet,
                                        uint64_t clock, uint32_t node)
{
    return (clock - packet->end) >> PROF_SHORT_TIME_BITS == 0 &&
           node >> PROF_SHORT_NODE_BITS == 0;
}

/* Returns whether the packet has an event, and (bytes) more fit. */
static inline bool prof_packet_has_room(const struct prof_packet_maker *packet,
                                        uint32_t bytes)
{
    return packet->used - 1 < PROF_PACKET_DEFAULT - bytes; /* 0 - 1 is large */
}

/* Writes parent:14 offset:26. Returns false if a value does not fit. */
static inline bool
prof_packet_write_parent(const struct prof_packet_maker *packet, uint8_t *to,
                         const struct prof_packet_node *node)
{
    uint64_t offset = node->address - packet->text_begin;

    if (node->parent >> PROF_SHORT_NODE_BITS != 0 ||
        offset >> PROF_SHORT_OFFSET_BITS != 0)
        return false;
    prof_packet_word(to,
                     (uint32_t)offset << PROF_SHORT_NODE_BITS | node->parent);
    to[4] = (uint8_t)(offset >> (32 - PROF_SHORT_NODE_BITS));
    return true;
}

/* Writes a sample of (node) as a short event. Returns false, without effect, if
 * that is impossible, or if it would be the packet's first event. */
static inline bool prof_packet_short_sample(struct prof_packet_maker *packet,
                                            uint64_t clock, uint32_t node)
{
    if (!prof_packet_has_room(packet, PROF_SAMPLE_BYTES) ||
        !prof_packet_is_short(packet, clock, node))
        return false;
    prof_packet_word(packet->data + packet->used,
                     prof_packet_short_head(PROF_EVENT_SAMPLE, clock, node));
    prof_packet_count_in(packet, clock, PROF_SAMPLE_BYTES);
    return true;
}

/* Like prof_packet_short_sample(), for a sample that defines its node. */
static inline bool prof_packet_short_leaf(struct prof_packet_maker *packet,
                                          uint64_t clock,
                                          const struct prof_packet_node *leaf)
{
    uint8_t *to = packet->data + packet->used;

    if (!prof_packet_has_room(packet, PROF_LEAF_BYTES) ||
        !prof_packet_is_short(packet, clock, leaf->node) ||
        !prof_packet_write_parent(packet, to + 4, leaf))
        return false;
    prof_packet_word(
        to, prof_packet_short_head(PROF_EVENT_LEAF, clock, leaf->node));
    prof_packet_count_in(packet, clock, PROF_LEAF_BYTES);
    return true;
}

#endif
