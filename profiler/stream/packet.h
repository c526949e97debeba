/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PACKET_H
#define PROF_PACKET_H

/*
 * One packet in the making (<prof/format.h>). Events are put into it until it
 * is full or old; then it is closed and offered until the transport takes it.
 * Contexts: thread. No allocation.
 *
 * An event counts only once it is whole. So a packet may be closed at any
 * moment, also by a panic in the middle of a call to here.
 */

#include <prof/format.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_packet_maker {
    uint64_t begin;      /* clock of the first event */
    uint64_t end;        /* clock of the last one */
    uint64_t text_begin; /* where the image's code begins */
    uint32_t used;       /* bytes so far, 0 = no event yet */
    uint32_t bytes;      /* once it is closed, as long as it is sent */
    uint8_t data[PROF_PACKET_DEFAULT];
};

/* What a packet's head says of its place in the stream. */
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

/* Whether (bytes) more still fit, events' heads included. */
bool prof_packet_fits(const struct prof_packet_maker *packet, uint32_t bytes);

/*
 * What puts an event in. It fits, and the packet is not closed. (clock) is its
 * time, not before the last one's; that of a node matters only where it is the
 * packet's first event.
 */

/* How long an event of a (kind) that is not short, with (bytes) of fields, is
 * in all. */
static inline uint32_t prof_packet_event_bytes(enum prof_event kind,
                                               uint32_t bytes)
{
    uint32_t extension = (uint32_t)sizeof(struct prof_event_extension);

    if (prof_event_is_brief(kind))
        return PROF_EVENT_BRIEF_BYTES + bytes;
    return PROF_EVENT_HEAD_BYTES + (kind < PROF_KIND_EXTENDED ? 0 : extension) +
           bytes;
}

/* Whether such an event at (clock) may be a brief one: the time of those is cut
 * to as many bits as that of a sample. */
static inline bool prof_packet_is_soon(const struct prof_packet_maker *packet,
                                       uint64_t clock)
{
    return packet->used == 0 ||
           (clock - packet->end) >> PROF_SHORT_TIME_BITS == 0;
}

/* Such an event; its fields are those of struct prof_event_NAME. */
void prof_packet_put(struct prof_packet_maker *packet, enum prof_event kind,
                     uint64_t clock, const void *fields, uint32_t bytes);

/* A sample of (node), a node with its parent, or a sample with both, in the
 * shortest form there is. See also packet_short.h. */
void prof_packet_sample(struct prof_packet_maker *packet, uint64_t clock,
                        uint32_t node);
void prof_packet_node(struct prof_packet_maker *packet, uint64_t clock,
                      const struct prof_packet_node *node);
void prof_packet_leaf(struct prof_packet_maker *packet, uint64_t clock,
                      const struct prof_packet_node *leaf);

/* Writes the head: from now on data[0 .. bytes) may be sent. */
void prof_packet_close(struct prof_packet_maker *packet,
                       const struct prof_packet_label *label);

/* Begins the next one. */
void prof_packet_clear(struct prof_packet_maker *packet);

#endif
