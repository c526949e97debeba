/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PACKET_SHORT_H
#define PROF_PACKET_SHORT_H

/*
 * The short events, which nearly all samples are, put into a packet that is
 * begun. Inline, since each sample is one, and written by hand; that they agree
 * with <prof/events.def>, tests/unit/host/events_test.c shows.
 */

#include "stream/packet.h"

/* A word in one store, wherever it lies: x86 does not mind. */
static inline void prof_packet_word(uint8_t *to, uint32_t word)
{
    __builtin_memcpy(to, &word, sizeof word);
}

/* The next (bytes) are an event, the last at (clock), from now on. */
static inline void prof_packet_count_in(struct prof_packet_maker *packet,
                                        uint64_t clock, uint32_t bytes)
{
    packet->end = clock;
    __atomic_signal_fence(__ATOMIC_RELEASE); /* whole, then counted */
    packet->used += bytes;
}

/* The first word of a SAMPLE or a LEAF. */
static inline uint32_t prof_packet_short_head(enum prof_event kind,
                                              uint64_t clock, uint32_t node)
{
    uint32_t time = (uint32_t)clock & ((1u << PROF_SHORT_TIME_BITS) - 1);

    return node << (PROF_EVENT_TAG_BITS + PROF_SHORT_TIME_BITS) |
           time << PROF_EVENT_TAG_BITS | (uint32_t)kind;
}

/* Whether a sample of (node) at (clock) has room in a short form. */
static inline bool prof_packet_is_short(const struct prof_packet_maker *packet,
                                        uint64_t clock, uint32_t node)
{
    return (clock - packet->end) >> PROF_SHORT_TIME_BITS == 0 &&
           node >> PROF_SHORT_NODE_BITS == 0;
}

/* Whether it has an event, and (bytes) more fit. */
static inline bool prof_packet_has_room(const struct prof_packet_maker *packet,
                                        uint32_t bytes)
{
    return packet->used - 1 < PROF_PACKET_DEFAULT - bytes; /* 0 - 1 is large */
}

/* Writes parent:14 offset:26, where that can say it. */
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

/* A sample of (node), if it is not the packet's first event and its short form
 * will do and fits. False: nothing was done. */
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

/* The same for a sample that defines its node. */
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
