/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FORMAT_H
#define PROF_FORMAT_H

/*
 * Binary format of the stream from guest to host. Both include this header,
 * which is the only definition of the format (docs/format.md explains it).
 *
 * It is a Common Trace Format 1.8 stream: babeltrace2 and Trace Compass read a
 * file of concatenated packets, with a metadata file next to it. All numbers
 * are little-endian. There is no padding between fields.
 *
 *     +---------------------------+
 *     | struct prof_packet        |  header and context, PROF_PACKET_BYTES
 *     +---------------------------+
 *     | events, of whole bytes:   |
 *     |   head                    |  kind and time
 *     |   fields                  |  depend on the event
 *     +---------------------------+  content_bits
 *     | zeros, or nothing         |
 *     +---------------------------+  packet_bits
 *
 * Events are listed in <prof/events.def>. The lowest two bits of an event's
 * first byte are its tag. Tags 0 to 2 are the three most frequent events,
 * packed into as few bytes as possible, lowest bits first. Tag 3 stands for all
 * others:
 *
 *     tag:2 kind:6 time:24, fields
 *     tag:2 kind:6 time:16, fields                      (kinds 57 to 62)
 *     tag:2 63:6   time:24, kind:8 bytes:8, fields      (kinds from 64 on)
 *
 * The last form is that of extended events. A reader skips those of unknown
 * kinds, and unknown fields at their end: bytes is the size of all fields.
 * After any other unknown kind the rest of the packet cannot be read. The short
 * forms are for offsets below 2^26, nodes below 2^14 and samples within 2^16
 * clocks of the previous event.
 *
 * Time. The stream's clock runs at PROF_CLOCK_HZ and is 0 at boot. An event
 * contains its low 16 or 24 bits. If they are less than those of the previous
 * event, the reader adds 2^16 or 2^24. The first event counts from the packet's
 * begin. After a pause of more than half the 24-bit range, a CLOCK event comes
 * first. A NODE has no time. A sample covers the time since the last SAMPLE,
 * LEAF, IDLE, OVERFLOW, DROP or START event.
 *
 * Interning. A call stack is a node of a tree, (parent, address); node 0 is the
 * empty stack. The outermost caller is a child of node 0, and the sampled
 * address a leaf. A node is defined before the first event that refers to it,
 * and keeps its number while the uuid is the same. As packets may be lost and
 * readers may join late, a definition is repeated when a later packet uses the
 * node, and from time to time after that. A reader resolves nodes at the end.
 * An offset is an address minus the packet's text_begin.
 *
 * Objects (<prof/trace.h>) are tasks, promises and so on, and are numbered. A
 * near number n, other than 0 (none) and PROF_NEAR_UNKNOWN, is object first + n
 * of the packet's last OBJECTS event. A tiny number counts from the last RECENT
 * event; PROF_TINY_UNKNOWN is the unknown object.
 *   SWITCH makes an object current, and is repeated in each packet with events
 *   of objects. Events between IRQ_ENTER and IRQ_EXIT are the interrupt's.
 *   Names are defined and repeated like nodes.
 *   ALIVE describes an object to readers that have missed its CREATE.
 *   LOST marks where events are missing.
 *   RECORDED, in each packet with events of objects and at the end, is the
 *   number of such events recorded before, including lost ones, but without the
 *   repeated SWITCH and the one after LOST and HISTORY. It is 0 where the count
 *   begins.
 *   SUSPEND_STACK has the stack of node PROF_SUSPEND_NODE(stack, 0), all of
 *   whose addresses are return addresses.
 *
 * History. Events that a flight recorder has kept are older than the packets
 * sent before them. They are sent in packets with PROF_CPU_HISTORY added to
 * cpu and a sequence of their own, which appear to a reader as another CPU.
 * Each dump begins with HISTORY and the ALIVE events of all known objects, and
 * contains the events since the previous dump.
 *
 * Loss. discarded in each packet is the number of samples that were not sent
 * since the start. A gap in sequence shows a missing packet. A packet with a
 * wrong crc counts as missing. Other packets are not affected.
 *
 * CPUs. The events of a packet are from one CPU. Each CPU has its own sequence,
 * discarded and current task, and its samples cover its own time. Nodes, tasks
 * and the clock are common to all CPUs.
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_FORMAT_VERSION 3u
#define PROF_PACKET_MAGIC 0xc1fc1fc1u /* CTF 1.8.3, 5.1: packet header magic */
#define PROF_CLOCK_HZ 10000000u       /* a clock is 100 ns */
#define PROF_PACKET_MAX 65536u        /* largest packet in bytes */
#define PROF_PACKET_DEFAULT 4096u     /* usual packet size in bytes */

/* Packet header and packet context. */
struct prof_packet {
    uint32_t magic;        /* PROF_PACKET_MAGIC */
    uint8_t uuid[16];      /* of this boot of this image */
    uint64_t begin;        /* clock at the first event */
    uint64_t end;          /* clock at the last event */
    uint64_t discarded;    /* samples that were not sent, since the start */
    uint32_t content_bits; /* size of header, context and events */
    uint32_t packet_bits;  /* the same with padding; a multiple of 8 */
    uint32_t sequence;     /* 0, 1, 2, ... for each uuid and cpu */
    uint16_t cpu;          /* CPU of the events */
    uint16_t version;      /* PROF_FORMAT_VERSION */
    uint32_t crc;          /* CRC-32C of content, this field taken as 0 */
    uint64_t text_begin;   /* address that offsets count from */
} __attribute__((packed));

#define PROF_PACKET_BYTES 72u
#ifndef __cplusplus
_Static_assert(sizeof(struct prof_packet) == PROF_PACKET_BYTES,
               "the packet's head is 72 bytes");
#endif

/* Tags 0 to 2 are the short events; after tag 3 comes a kind. */
#define PROF_EVENT_TAG_BITS 2
#define PROF_EVENT_OTHER 3u

/* Bits of the fields of short events, by class. */
#define PROF_SHORT_TIME_BITS 16
#define PROF_SHORT_NODE_BITS 14
#define PROF_SHORT_OFFSET_BITS 26

/* Heads of the other events. */
#define PROF_EVENT_KIND_BITS 6
#define PROF_EVENT_TIME_BITS 24
#define PROF_EVENT_TIME_MASK ((1u << PROF_EVENT_TIME_BITS) - 1u)
#define PROF_EVENT_HEAD_BYTES 4u
#define PROF_KIND_BRIEF 57u      /* first kind with a time of 16 bits */
#define PROF_KIND_BRIEF_LAST 62u /* last kind with a time of 16 bits */
#define PROF_EVENT_BRIEF_BYTES 3u
#define PROF_KIND_ESCAPE 63u   /* in the head of extended events */
#define PROF_KIND_EXTENDED 64u /* first extended kind */
#define PROF_KINDS 256u

/* Near and tiny numbers: no object, and the unknown object. */
#define PROF_NEAR_NONE 0u
#define PROF_NEAR_UNKNOWN 65535u
#define PROF_TINY_UNKNOWN 255u

/* The node of caller (caller), 0 for the innermost, of the suspend stack
 * (stack), numbered from 1 on. */
#define PROF_SUSPEND_NODE(stack, caller)                                       \
    (0x80000000u + (uint32_t)(stack)*PROF_SUSPEND_DEPTH_MAX + (caller))
#define PROF_SUSPEND_DEPTH_MAX 64u

/* Added to cpu in packets of a flight recorder. */
#define PROF_CPU_HISTORY 0x8000u

/* Follows the head of an extended event. */
struct prof_event_extension {
    uint8_t kind;
    uint8_t bytes; /* size of the fields that follow */
} __attribute__((packed));

/* PROF_EVENT_SAMPLE etc.: tags of the short events, and kinds of the others.
 * The two sets of numbers do not overlap. */
enum prof_event {
#define PROF_SHORT(NAME, name, tag, meaning, bits) PROF_EVENT_##NAME = (tag),
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    PROF_EVENT_##NAME = (kind),
#define PROF_BARE(NAME, name, kind, meaning) PROF_EVENT_##NAME = (kind),
#include <prof/events.def>
};

/* Returns whether the head of an event of (kind) has a time of 16 bits. */
static inline bool prof_event_is_brief(enum prof_event kind)
{
    return kind >= PROF_KIND_BRIEF && kind <= PROF_KIND_BRIEF_LAST;
}

/* PROF_SAMPLE_BYTES etc.: size of a short event with its tag. */
enum prof_short_bytes {
#define PROF_SHORT(NAME, name, tag, meaning, bits)                             \
    PROF_##NAME##_BYTES = (PROF_EVENT_TAG_BITS bits + 7) / 8,
#define PROF_BITS(class, name, bits) +(bits)
#include <prof/events.def>
};

/* struct prof_event_start etc.: the fields of the other events. */
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

/* Why a stack walk ended early: PROF_WALK_DEPTH etc.; 0: it did not. */
enum prof_walk_stop {
#define PROF_WALK_STOP(NAME, name, number, meaning) PROF_WALK_##NAME = (number),
#include <prof/events.def>
};
#define PROF_WALK_REASONS 7u /* these, and 0 */

/*
 * Packets as text, for a serial line that also carries other output. A packet
 * is one or more whole lines, between which other lines may occur, each
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

/* A ring of packets in guest memory, which the host reads: the symbol
 * prof_share_ring. The guest writes whole packets, aligned to 8 bytes, none of
 * them across the end of the ring. A word of 0 instead of a magic means that
 * the next packet is at the beginning of the ring. */
#define PROF_SHARE_MAGIC 0x676e6972666f7270ull /* "profring" */
struct prof_share {
    uint64_t magic;        /* PROF_SHARE_MAGIC once the ring is ready */
    uint64_t ring_address; /* physical address of the ring */
    uint64_t ring_bytes;   /* size of the ring, a power of two */
    uint64_t written;      /* bytes that the guest has written since the
                              start */
    uint64_t read;         /* bytes that the host has read, if it stores this */
    uint64_t overwritten;  /* unread bytes that the guest has overwritten */
};

/*
 * Location of the newest sample in guest memory, for a host that stops the
 * guest for samples of its own: the symbol prof_outside, which is constant. The
 * newest sample's time is in the entry before the next one to be written; the
 * entry before the first one of the ring is its last. Addresses are virtual,
 * and of the guest's pointer width.
 */
#define PROF_OUTSIDE_MAGIC 0x6564697374756f70ull /* "poutside" */
struct prof_outside {
    uint64_t magic;
    uint32_t word_bytes;  /* size of an address */
    uint32_t entry_bytes; /* size of an entry */
    uint32_t tsc_offset;  /* of the TSC in an entry, a uint64_t; the TSC is 0
                             before the first sample */
    uint32_t reserved;
    const void *ring;    /* an array of five addresses: [0] the next entry, [3]
                            the first entry, [4] the end of the ring */
    const void *clock;   /* a uint64_t, the TSC at which the stream's clock was
                            0; a uint32_t, clocks per cycle in 1/2^32 */
    const uint8_t *uuid; /* 16 bytes, as in packets; 0 before the first one */
};

#endif
