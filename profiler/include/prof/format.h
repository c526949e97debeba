/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FORMAT_H
#define PROF_FORMAT_H

/*
 * The binary stream from guest to host, byte for byte: both include this
 * header, and nothing else defines the format (docs/format.md explains it).
 *
 * It is a Common Trace Format 1.8 stream: babeltrace2 and Trace Compass read a
 * file of concatenated packets beside a metadata file. All numbers are
 * little-endian, nothing is padded.
 *
 *     +---------------------------+
 *     | struct prof_packet        |  header and context, PROF_PACKET_BYTES
 *     +---------------------------+
 *     | events, each whole bytes: |
 *     |   head                    |  what and when
 *     |   fields                  |  depend on the event
 *     +---------------------------+  content_bits
 *     | zeros, or nothing         |
 *     +---------------------------+  packet_bits
 *
 * Events are listed in <prof/events.def>. The lowest two bits of an event's
 * first byte are a tag: one of the three most frequent events, packed into as
 * few bytes as possible, lowest bits first; or another, with
 *
 *     tag:2 kind:6 time:24, fields
 *     tag:2 kind:6 time:16, fields                      (kinds 57 to 62)
 *     tag:2 63:6   time:24, kind:8 bytes:8, fields      (kinds from 64 on)
 *
 * A reader skips extended events of unknown kinds, and unknown fields at their
 * end: bytes counts all fields. After any other unknown kind the rest of the
 * packet cannot be read. The short forms are for offsets below 2^26, nodes
 * below 2^14 and samples within 2^16 clocks of the event before.
 *
 * Time. The stream's clock runs at PROF_CLOCK_HZ and is 0 at boot. An event has
 * its low 16 or 24 bits; where they are less than those of the event before,
 * the reader adds 2^16 or 2^24. The first counts from the packet's begin. After
 * a pause of more than half the 24-bit range, a CLOCK event comes first. A NODE
 * has no time. A sample covers the time since the last SAMPLE, LEAF, IDLE,
 * OVERFLOW, DROP or START event.
 *
 * Interning. A call stack is a node of a tree: (parent, address), node 0 being
 * the empty stack. The outermost caller is a child of node 0, the sampled
 * address a leaf. A node is defined before the first event that refers to it,
 * and keeps its number while the uuid is the same. Packets may be lost and
 * readers join late, so a definition is repeated when a later packet uses it,
 * and from time to time after that; a reader resolves nodes at the end. An
 * offset is an address minus the packet's text_begin.
 *
 * Objects (<prof/trace.h>) are tasks, promises and so on, and have numbers. A
 * near number n, neither 0 (none) nor PROF_NEAR_UNKNOWN, is object first + n of
 * the packet's last OBJECTS event; a tiny one counts from the last RECENT
 * event, and PROF_TINY_UNKNOWN is the unknown object. SWITCH says which object
 * is current, and is repeated in each packet with events of objects; what
 * IRQ_ENTER and IRQ_EXIT enclose is the interrupt's. Names are defined and
 * repeated like nodes. ALIVE is for readers that have missed a CREATE. LOST
 * stands where events are missing. RECORDED, in each such packet and at the
 * end, says how many events of objects were recorded before, lost ones
 * included, but neither the repeated SWITCH nor that after LOST and HISTORY; it
 * is 0 where the count begins. The stack of a SUSPEND_STACK is the node
 * PROF_SUSPEND_NODE(stack, 0), all of return addresses.
 *
 * History. What a flight recorder has kept is older than the packets sent
 * before. It comes in packets whose cpu has PROF_CPU_HISTORY added, with a
 * sequence of their own: to a reader, another CPU. Each dump begins with
 * HISTORY and the ALIVE events of all known objects, and has what the last one
 * has not.
 *
 * Loss. discarded in each packet counts the samples that were not sent since
 * the start; a gap in sequence shows a missing packet. A packet with a wrong
 * crc counts as missing. Other packets are not affected.
 *
 * CPUs. A packet's events are from one CPU. Each has its own sequence,
 * discarded and current task, and its samples cover its own time. Nodes, tasks
 * and the clock are common to all.
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_FORMAT_VERSION 3u
#define PROF_PACKET_MAGIC 0xc1fc1fc1u /* CTF 1.8.3, 5.1: packet header magic */
#define PROF_CLOCK_HZ 10000000u       /* 100 ns */
#define PROF_PACKET_MAX 65536u        /* bytes of one packet, at most */
#define PROF_PACKET_DEFAULT 4096u     /* bytes of one packet, usually */

/* Packet header and packet context. */
struct prof_packet {
    uint32_t magic;        /* PROF_PACKET_MAGIC */
    uint8_t uuid[16];      /* of this boot of this image */
    uint64_t begin;        /* clock at the first event */
    uint64_t end;          /* clock at the last event */
    uint64_t discarded;    /* samples that were not sent, since the start */
    uint32_t content_bits; /* header, context and events */
    uint32_t packet_bits;  /* the same with padding; a multiple of 8 */
    uint32_t sequence;     /* 0, 1, 2, ... for each uuid and cpu */
    uint16_t cpu;          /* where the events come from */
    uint16_t version;      /* PROF_FORMAT_VERSION */
    uint32_t crc;          /* CRC-32C of content, this field taken as 0 */
    uint64_t text_begin;   /* offsets count from this address */
} __attribute__((packed));

#define PROF_PACKET_BYTES 72u
#ifndef __cplusplus
_Static_assert(sizeof(struct prof_packet) == PROF_PACKET_BYTES,
               "the packet's head is 72 bytes");
#endif

/* Tags 0 to 2 are the short events; after tag 3 comes a kind. */
#define PROF_EVENT_TAG_BITS 2
#define PROF_EVENT_OTHER 3u

/* Fields of the short events, by their class. */
#define PROF_SHORT_TIME_BITS 16
#define PROF_SHORT_NODE_BITS 14
#define PROF_SHORT_OFFSET_BITS 26

/* The other events' heads. */
#define PROF_EVENT_KIND_BITS 6
#define PROF_EVENT_TIME_BITS 24
#define PROF_EVENT_TIME_MASK ((1u << PROF_EVENT_TIME_BITS) - 1u)
#define PROF_EVENT_HEAD_BYTES 4u
#define PROF_KIND_BRIEF 57u      /* the first of those with a shorter time, */
#define PROF_KIND_BRIEF_LAST 62u /* and the last */
#define PROF_EVENT_BRIEF_BYTES 3u
#define PROF_KIND_ESCAPE 63u   /* in the head of an extended event */
#define PROF_KIND_EXTENDED 64u /* the first of the extended kinds */
#define PROF_KINDS 256u

/* Near numbers of objects: none, and one without a number. */
#define PROF_NEAR_NONE 0u
#define PROF_NEAR_UNKNOWN 65535u
#define PROF_TINY_UNKNOWN 255u

/* The nodes of the stacks of suspends, which are numbered from 1 on: caller
 * (caller) of stack (stack), the innermost is 0. */
#define PROF_SUSPEND_NODE(stack, caller)                                       \
    (0x80000000u + (uint32_t)(stack)*PROF_SUSPEND_DEPTH_MAX + (caller))
#define PROF_SUSPEND_DEPTH_MAX 64u

/* Added to the cpu of packets from a flight recorder. */
#define PROF_CPU_HISTORY 0x8000u

/* Follows the head of an extended event. */
struct prof_event_extension {
    uint8_t kind;
    uint8_t bytes; /* of the fields that follow */
} __attribute__((packed));

/* PROF_EVENT_SAMPLE and so on: tags of the short events, kinds of the others.
 * The two sets of numbers do not overlap. */
enum prof_event {
#define PROF_SHORT(NAME, name, tag, meaning, bits) PROF_EVENT_##NAME = (tag),
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    PROF_EVENT_##NAME = (kind),
#define PROF_BARE(NAME, name, kind, meaning) PROF_EVENT_##NAME = (kind),
#include <prof/events.def>
};

/* Whether the head of an event of (kind) has the shorter time. */
static inline bool prof_event_is_brief(enum prof_event kind)
{
    return kind >= PROF_KIND_BRIEF && kind <= PROF_KIND_BRIEF_LAST;
}

/* PROF_SAMPLE_BYTES and so on: size of a short event with its tag. */
enum prof_short_bytes {
#define PROF_SHORT(NAME, name, tag, meaning, bits)                             \
    PROF_##NAME##_BYTES = (PROF_EVENT_TAG_BITS bits + 7) / 8,
#define PROF_BITS(class, name, bits) +(bits)
#include <prof/events.def>
};

/* struct prof_event_start and so on: the fields of the others. */
#define PROF_FIELD_uint8(name) uint8_t name;
#define PROF_FIELD_uint16(name) uint16_t name;
#define PROF_FIELD_uint32(name) uint32_t name;
#define PROF_FIELD_uint64(name) uint64_t name;
#define PROF_FIELD_address(name) uint64_t name;
#define PROF_FIELD_clock(name) uint64_t name;
#define PROF_FIELD_bytes32(name) uint8_t name[32];
#define PROF_FIELD_walk_stop(name) uint16_t name;
#define PROF_FIELD_object_kind(name) uint8_t name;
#define PROF_FIELD_int16(name) int16_t name;
#define PROF_FIELD_int64(name) int64_t name;
#define PROF_FIELD_near(name) uint16_t name;
#define PROF_FIELD_tiny(name) uint8_t name;
#define PROF_FIELD_name8(name) uint8_t name;
#define PROF_FIELD_text(name) /* follows the struct */
#define PROF_FIELD(type, name, meaning) PROF_FIELD_##type(name)
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    struct prof_event_##name {                                                 \
        fields                                                                 \
    } __attribute__((packed));
#include <prof/events.def>

/* Why a walk ended early: PROF_WALK_DEPTH and so on; 0 = it did not. */
enum prof_walk_stop {
#define PROF_WALK_STOP(NAME, name, number, meaning) PROF_WALK_##NAME = (number),
#include <prof/events.def>
};
#define PROF_WALK_REASONS 7u /* these, and 0 */

/*
 * Packets as text, for a serial line that also carries other things: one or
 * more whole lines, between which others may stand, each
 *
 *     #prof SEQUENCE.PART/PARTS BASE64 CRC
 *
 * with SEQUENCE, PART (from 1) and PARTS in decimal, at most PROF_LINE_BYTES of
 * the packet in BASE64 (RFC 4648 section 4), and the CRC-32C of those bytes in
 * eight hexadecimal digits. Answers to commands begin with "#prof! ".
 */
#define PROF_LINE_MARK "#prof "
#define PROF_ANSWER_MARK "#prof! "
#define PROF_LINE_BYTES 768u

/* Packets in guest memory that the host reads: the symbol prof_share_ring. The
 * guest writes whole packets, each aligned to 8 bytes, none across the end of
 * the ring. A word of 0 instead of a magic: the next packet is at the ring's
 * beginning. */
#define PROF_SHARE_MAGIC 0x676e6972666f7270ull /* "profring" */
struct prof_share {
    uint64_t magic;        /* PROF_SHARE_MAGIC once it is ready */
    uint64_t ring_address; /* physical, of the packets' bytes */
    uint64_t ring_bytes;   /* a power of two */
    uint64_t written;      /* bytes since the start; the guest's */
    uint64_t read;         /* the same, written by the host, if at all */
    uint64_t overwritten;  /* bytes that the guest wrote over unread ones */
};

/*
 * Where the newest sample is in guest memory, for a host that stops the guest
 * for samples of its own: the symbol prof_outside, which never changes. The
 * entry before the next to be written has the newest sample's time; before the
 * ring's first entry comes its last. Addresses are virtual, and as wide as the
 * guest's.
 */
#define PROF_OUTSIDE_MAGIC 0x6564697374756f70ull /* "poutside" */
struct prof_outside {
    uint64_t magic;
    uint32_t word_bytes; /* of an address */
    uint32_t entry_bytes;
    uint32_t tsc_offset; /* in an entry, uint64_t; 0 before the first sample */
    uint32_t reserved;
    const void *ring;    /* five addresses: first of the next entry, fourth of
                            the first one, fifth of the ring's end */
    const void *clock;   /* uint64_t: the TSC when the stream's clock was 0;
                            uint32_t: clock per cycle, in 1/2^32 */
    const uint8_t *uuid; /* 16 bytes, the packets'; 0 before there are any */
};

#endif
