/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_PACKET_H
#define TRACE_PACKET_H

/*
 * Packets from raw bytes (<prof/format.h>).
 *
 * A scanner looks for the magic. It accepts a packet only if its lengths make
 * sense and its checksum is right; otherwise it continues one byte later. So
 * bytes that are torn, overwritten or foreign cost only themselves.
 */

#include "base/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One complete packet with a valid checksum. Points into the bytes that it was
 * found in, and lives as long as they do. */
struct packet {
    const uint8_t *bytes;
    size_t total_bytes;
    const uint8_t *events;
    size_t events_bytes;
    const uint8_t *uuid; /* 16 bytes */
    uint64_t begin;      /* clocks */
    uint64_t end;
    uint64_t discarded;  /* samples */
    uint64_t text_begin; /* base of offsets */
    uint32_t sequence;
    uint16_t cpu;
    uint16_t version; /* of the format of the events */
};

enum packet_verdict {
    PACKET_GOOD,
    PACKET_SHORT, /* may become a packet with more bytes */
    PACKET_BAD,
};

/* Checks whether a packet begins at (bytes), of which (count) are there. */
enum packet_verdict packet_check(const uint8_t *bytes, size_t count,
                                 struct packet *found);

/* Where the packets of one CPU are. Starts as zeros. */
struct packet_order {
    bool begun;    /* there was a packet */
    uint32_t next; /* sequence */
};

enum packet_follows {
    PACKET_FIRST,     /* of its CPU */
    PACKET_NEXT,      /* the one before came */
    PACKET_AFTER_GAP, /* packets are missing before it */
    PACKET_AGAIN,     /* it, or a later one, came already */
};

/* Notes (packet), and says how it follows those of its CPU before; *(missing),
 * if not NULL, is how many are missing between. */
enum packet_follows packet_follow(struct packet_order *order,
                                  const struct packet *packet,
                                  uint32_t *missing);

/* Receives the packets that were found. */
struct packet_sink {
    void (*take)(void *owner, const struct packet *packet);
    void *owner;
};

/* Finds the packets in (bytes). Returns how many bytes are consumed: all of
 * them if these are the (last) ones, otherwise those before a packet that is
 * still incomplete. Adds the bytes outside packets to *(garbage). */
size_t packet_scan(const uint8_t *bytes, size_t count, bool last,
                   const struct packet_sink *sink, uint64_t *garbage);

/* The same for bytes that come in pieces. Starts as zeros and a sink. */
struct scanner {
    struct packet_sink sink;
    uint64_t garbage; /* bytes outside packets */
    uint8_t *waiting; /* of an incomplete packet */
    size_t waiting_bytes;
};

void scanner_feed(struct scanner *scanner, const void *bytes, size_t count);

/* No more bytes will come; frees what the scanner holds. */
void scanner_end(struct scanner *scanner);

/*
 * An index of packets: each is added once, as they come, and finally sorted by
 * time, which for each CPU is the order of their sequence. The caller decides
 * what an offset means: a position in a file or in memory.
 *
 * The index holds the packets of one boot of one image. The first packet
 * determines which; those of others are counted and refused. So are those of
 * more than TRACE_CPUS_MAX CPUs, and more than TRACE_PACKETS_MAX.
 */

#define TRACE_CPUS_MAX 256
#define TRACE_PACKETS_MAX (1u << 24)

struct packet_entry {
    uint64_t offset;
    uint64_t begin; /* clock */
    uint32_t bytes;
    uint32_t sequence;
    uint16_t cpu;
};

/* Starts as zeros. */
struct packet_index {
    struct packet_entry *packets;
    size_t count;
    bool unsorted; /* time went back */
    uint8_t uuid[16];
    struct index seen;
    struct index cpus;
    uint64_t bytes;
    uint64_t repeated; /* packets that were there already */
    uint64_t foreign;  /* packets of another boot */
    uint64_t excess;   /* packets beyond a limit */
};

/* Adds (packet), which is at (offset). Returns false if it is from another
 * boot, is in the index already, or one too many. */
bool packet_index_add(struct packet_index *index, const struct packet *packet,
                      uint64_t offset);

void packet_index_sort(struct packet_index *index);

/* How many packets are missing between each CPU's first and last. */
uint64_t packet_index_missing(const struct packet_index *index);

void packet_index_free(struct packet_index *index);

#endif
