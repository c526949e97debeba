/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FORMAT_H
#define PROF_FORMAT_H

/*
 * The stream: everything that leaves the guest in binary, byte for byte. The
 * guest writes by this header, the host reads by it, and both by nothing else.
 *
 * It is a Common Trace Format 1.8 stream: the packets, stored one after the
 * other in a file beside a metadata file, are read by babeltrace2 and Trace
 * Compass as they are. All numbers are little-endian, nothing is padded.
 *
 *     +---------------------------+
 *     | struct prof_packet        |  header and context, PROF_PACKET_BYTES
 *     +---------------------------+
 *     | events, each whole bytes: |
 *     |   head                    |  what and when
 *     |   fields                  |  enum prof_event says which
 *     +---------------------------+  content_bits
 *     | zeros, or nothing         |
 *     +---------------------------+  packet_bits
 *
 * Events. The lowest two bits of the first byte are a tag. Three of them are
 * the events that nearly all are, packed into as few bytes as they need, lowest
 * bits first; the fourth says that the kind follows:
 *
 *     SAMPLE  tag:2 time:16 node:14
 *     LEAF    tag:2 time:16 node:14 parent:14 offset:26
 *     NODE    tag:2 node:14 parent:14 offset:26
 *     others  tag:2 kind:6 time:24, and the fields of that kind
 *
 * SAMPLE is a sample of a stack that was told of. LEAF tells of a stack whose
 * callers were, and is a sample of it. What does not fit, be it a number or the
 * time since the event before, takes one of the longer forms.
 *
 * Time. The stream's clock runs at PROF_CLOCK_HZ and is 0 at boot. A head holds
 * the clock's low bits, 16 or 24; whoever reads it adds a wrap of so many bits
 * whenever they go back. The first event of a packet counts from the packet's
 * begin. Where more than half a wrap of 24 bits would pass without an event, a
 * CLOCK event comes first. A NODE happens at no time. A sample stands for the
 * time since the SAMPLE, LEAF, IDLE, SPILL, DROP or START event before it.
 *
 * Interning. A call stack is a node of a tree: (parent, address), node 0 being
 * the empty stack. The outermost caller is a child of node 0, the sampled
 * address a leaf. A node is defined before the first event that names it, and
 * keeps its number while the uuid is the same. Since a packet may be lost, and
 * a reader may join late, a node that is used again in a later packet is
 * defined again there, and after that now and then (the same again); a reader
 * therefore resolves nodes at the end. Whatever remains unknown is shown as
 * such. An offset is an address less the packet's text_begin.
 *
 * Loss. discarded in each packet counts what the guest could not send since
 * the start; sequence counts packets, so that a missing one is known. A packet
 * whose crc is wrong is as good as missing. None of this affects any other.
 *
 * CPUs. A packet's events are from one CPU. Each CPU has its own sequence and
 * discarded, its own present task, and samples that stand for its own time;
 * nodes, tasks and the clock belong to all of them.
 */

#include <stdint.h>

#define PROF_FORMAT_VERSION 2u
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
    uint16_t cpu;          /* that the events are from */
    uint16_t version;      /* PROF_FORMAT_VERSION */
    uint32_t crc;          /* CRC-32C of content, this field taken as 0 */
    uint64_t text_begin;   /* that offsets are from */
} __attribute__((packed));

#define PROF_PACKET_BYTES 72u
_Static_assert(sizeof(struct prof_packet) == PROF_PACKET_BYTES,
               "the packet's head is 72 bytes");

/* Tags: the short events' kinds, and the one that a kind follows. */
#define PROF_EVENT_TAG_BITS 2
#define PROF_EVENT_OTHER 3u

/* The short events. */
#define PROF_SHORT_TIME_BITS 16
#define PROF_SHORT_NODE_BITS 14 /* also of a parent */
#define PROF_SHORT_OFFSET_BITS 26
#define PROF_SAMPLE_BYTES 4u
#define PROF_LEAF_BYTES 9u
#define PROF_NODE_BYTES 7u

/* The other events' heads. */
#define PROF_EVENT_KIND_BITS 6
#define PROF_EVENT_TIME_BITS 24
#define PROF_EVENT_TIME_MASK ((1u << PROF_EVENT_TIME_BITS) - 1u)
#define PROF_EVENT_HEAD_BYTES 4u

enum prof_event {
    PROF_EVENT_SAMPLE = 0,        /* short: node */
    PROF_EVENT_LEAF = 1,          /* short: node, parent, offset */
    PROF_EVENT_NODE = 2,          /* short: the same, and no time */
    PROF_EVENT_SAMPLE_LATE = 3,   /* uint16_t node */
    PROF_EVENT_SAMPLE_WIDE = 4,   /* uint32_t node */
    PROF_EVENT_NODE_WIDE = 5,     /* struct prof_event_node_wide */
    PROF_EVENT_IDLE = 6,          /* no fields: the CPU was halted, idle */
    PROF_EVENT_HELLO = 7,         /* struct prof_event_hello */
    PROF_EVENT_START = 8,         /* struct prof_event_start: it (re)starts */
    PROF_EVENT_STOP = 9,          /* no fields: sampling stops */
    PROF_EVENT_CLOCK = 10,        /* uint64_t clock, whole */
    PROF_EVENT_SPILL = 11,        /* struct prof_event_spill */
    PROF_EVENT_DROP = 12,         /* struct prof_event_drop */
    PROF_EVENT_MISS = 13,         /* uint32_t ticks due, never delivered */
    PROF_EVENT_TASK = 14,         /* struct prof_event_task */
    PROF_EVENT_SWITCH = 15,       /* uint32_t task that runs now, 0 = none */
    PROF_EVENT_STOPPED_WALK = 16, /* struct prof_event_stopped_walk */
    PROF_EVENT_BYE = 17,          /* uint32_t exit code; the last event */
};

/* First event of the first packet, and again from time to time. */
struct prof_event_hello {
    uint32_t version;      /* PROF_FORMAT_VERSION */
    uint32_t pointer_bits; /* 32 or 64 */
    uint64_t tsc_hz;
    uint64_t unix_seconds; /* wall time at boot, UTC; 0 = unknown */
    uint64_t text_begin;   /* the image's code, half-open */
    uint64_t text_end;
    uint32_t build_id_bytes;
    uint8_t build_id[32]; /* the rest is 0 */
} __attribute__((packed));

struct prof_event_start {
    uint32_t rate_mhz; /* samples in 1000 s */
    uint32_t depth;    /* callers a sample may carry, 0 = none */
} __attribute__((packed));

struct prof_event_node_wide {
    uint32_t node;
    uint32_t parent;
    uint64_t address;
} __attribute__((packed));

/* Samples that came while the vector was full: their address is known, their
 * callers and single times are not. One event for each address. */
struct prof_event_spill {
    uint64_t address;
    uint32_t samples;
    uint64_t clocks; /* time that they stand for, 1/PROF_CLOCK_HZ */
} __attribute__((packed));

/* Samples of which nothing is known but that they were. */
struct prof_event_drop {
    uint32_t samples;
    uint64_t clocks;
} __attribute__((packed));

/* Names a task that SWITCH events will mention. */
struct prof_event_task {
    uint32_t task;
    uint64_t function; /* that it runs */
} __attribute__((packed));

/* Stack walks that ended before the outermost frame, since the last of these
 * events, by reason. */
struct prof_event_stopped_walk {
    uint16_t reason; /* enum prof_walk_stop */
    uint32_t samples;
} __attribute__((packed));

enum prof_walk_stop {
    PROF_WALK_DEPTH = 1,     /* prof.depth frames were taken */
    PROF_WALK_ROOM = 2,      /* the frame vector was full */
    PROF_WALK_UNALIGNED = 3, /* frame pointer not aligned */
    PROF_WALK_OUTSIDE = 4,   /* frame pointer outside the stack */
    PROF_WALK_FALLING = 5,   /* frame pointer does not rise */
    PROF_WALK_NOT_CODE = 6,  /* return address outside the code */
};

/*
 * Packets as text, for a serial line that also carries other things: a packet
 * is one or more whole lines, each
 *
 *     #prof SEQUENCE.PART/PARTS BASE64 CRC
 *
 * with SEQUENCE, PART (from 1) and PARTS in decimal, at most
 * PROF_LINE_BYTES bytes of the packet in BASE64 (RFC 4648 section 4), and CRC
 * the CRC-32C of those bytes in eight hexadecimal digits. Other lines may
 * stand between the parts of a packet. Answers to commands begin with
 * "#prof! ".
 */
#define PROF_LINE_MARK "#prof "
#define PROF_ANSWER_MARK "#prof! "
#define PROF_LINE_BYTES 768u

/*
 * Packets in RAM that the host can read: the symbol prof_share_ring names one
 * of these. The guest writes whole packets, each at a multiple of 8 bytes,
 * none across the end; a word of 0 where a magic would be sends the reader
 * back to the beginning.
 */
#define PROF_SHARE_MAGIC 0x676e6972666f7270ull /* "profring" */
struct prof_share {
    uint64_t magic;        /* PROF_SHARE_MAGIC once it is ready */
    uint64_t ring_address; /* physical, of the packets' bytes */
    uint64_t ring_bytes;   /* a power of two */
    uint64_t written;      /* bytes since the start; the guest's */
    uint64_t read;         /* the same, the host's; it may never move */
    uint64_t overwritten;  /* bytes that the guest wrote over unread ones */
};

#endif
