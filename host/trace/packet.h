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

#endif
