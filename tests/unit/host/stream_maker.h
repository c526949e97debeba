/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STREAM_MAKER_H
#define STREAM_MAKER_H

/*
 * Writes streams as a guest does, packet by packet, for tests of whoever reads
 * them. Not the guest's own code: what the two agree on is <prof/format.h>.
 *
 *     struct made made = {.packet_room = 512};
 *     made_hello(&made, 64);
 *     made_start(&made, 1000000, 64);
 *     made_node(&made, 1, 0, 0x100000);
 *     made_sample(&made, 1);
 *     made_flush(&made);
 *     ... made.bytes, made.count ...; free(made.bytes);
 *
 * Each event comes (made.step) clocks after the one before; a packet that has
 * no room for the next event is finished first.
 */

#include <prof/format.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MADE_CPUS 4u

struct made {
    size_t packet_room; /* bytes, at most PROF_PACKET_MAX */
    uint64_t time;      /* clocks */
    uint64_t step;      /* clocks between two events */
    uint64_t discarded; /* samples, for the packets to come */
    uint8_t boot;       /* every byte of the uuid */
    uint32_t sequence;  /* packets that are finished */
    uint8_t *bytes;     /* of the packets that are finished */
    size_t count;
    size_t room;
    uint8_t packet[PROF_PACKET_MAX];
    size_t used; /* bytes of the packet in the making, 0 = none */
    uint64_t begin;
    uint64_t last; /* time of the last event that has one, or begin */
    uint16_t cpu;  /* of the packets to come, below MADE_CPUS */
    uint32_t sequence_of[MADE_CPUS]; /* of each CPU's next packet */
};

#define MADE_TEXT 0x100000u /* where the image's code begins */

/* CRC-32C, bit by bit. */
static inline uint32_t made_crc32c(const uint8_t *bytes, size_t count)
{
    uint32_t crc = UINT32_MAX;

    while (count-- > 0) {
        crc ^= *bytes++;
        for (int bit = 0; bit < 8; ++bit)
            crc = crc >> 1 ^ (-(crc & 1) & 0x82f63b78u);
    }
    return ~crc;
}

/* Sets a finished packet's checksum to what it should be. */
static inline void made_seal(uint8_t *packet, size_t content)
{
    const size_t at = offsetof(struct prof_packet, crc);
    uint32_t crc;

    memset(packet + at, 0, sizeof crc);
    crc = made_crc32c(packet, content);
    memcpy(packet + at, &crc, sizeof crc);
}

static inline void made_flush(struct made *made)
{
    struct prof_packet head = {
        .magic = PROF_PACKET_MAGIC,
        .begin = made->begin,
        .end = made->last,
        .discarded = made->discarded,
        .content_bits = (uint32_t)made->used * 8,
        .packet_bits = (uint32_t)made->used * 8,
        .sequence = made->sequence_of[made->cpu],
        .cpu = made->cpu,
        .version = PROF_FORMAT_VERSION,
        .text_begin = MADE_TEXT,
    };

    if (made->used == 0)
        return;
    ++made->sequence;
    ++made->sequence_of[made->cpu];
    memset(head.uuid, made->boot, sizeof head.uuid);
    memcpy(made->packet, &head, sizeof head);
    made_seal(made->packet, made->used);
    if (made->count + made->used > made->room) {
        made->room = 2 * (made->room + made->used);
        made->bytes = realloc(made->bytes, made->room);
    }
    memcpy(made->bytes + made->count, made->packet, made->used);
    made->count += made->used;
    made->used = 0;
}

/* Room for an event of (bytes) bytes, (made->step) after the one before. */
static inline uint8_t *made_room(struct made *made, size_t bytes)
{
    if (made->used + bytes > made->packet_room)
        made_flush(made);
    made->time += made->step;
    if (made->used == 0) {
        made->used = PROF_PACKET_BYTES;
        made->begin = made->last = made->time;
    }
    made->used += bytes;
    return made->packet + made->used - bytes;
}

/* Writes (bits), of which there are 8 * (bytes), lowest first. */
static inline void made_bits(uint8_t *to, uint64_t bits, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; ++i)
        to[i] = (uint8_t)(bits >> (8 * i));
}

static inline void made_event(struct made *made, enum prof_event kind,
                              const void *fields, size_t bytes)
{
    bool extended = kind >= 64;
    unsigned head = kind >= 57 && kind <= 62 ? 3 : 4;
    uint8_t *to = made_room(made, head + (extended ? 2 : 0) + bytes);
    uint64_t code = extended ? 63 : kind;

    made_bits(to, made->time << 8 | code << 2 | 3, head);
    to += head;
    if (extended) {
        *to++ = (uint8_t)kind;
        *to++ = (uint8_t)bytes;
    }
    if (bytes > 0)
        memcpy(to, fields, bytes);
    made->last = made->time;
}

#define MADE_EVENT(made, kind, ...)                                            \
    made_event(made, kind, &(__VA_ARGS__), sizeof(__VA_ARGS__))

static inline void made_hello(struct made *made, uint32_t pointer_bits)
{
    struct prof_event_hello hello = {
        .version = PROF_FORMAT_VERSION,
        .pointer_bits = pointer_bits,
        .tsc_hz = 2000000000u,
        .unix_seconds = 1700000000u,
        .text_begin = MADE_TEXT,
        .text_end = 0x200000,
        .build_id_bytes = 20,
    };

    for (uint8_t i = 0; i < 20; ++i)
        hello.build_id[i] = (uint8_t)(0xa0 + i);
    MADE_EVENT(made, PROF_EVENT_HELLO, hello);
}

static inline void made_start(struct made *made, uint32_t rate_mhz,
                              uint32_t depth)
{
    MADE_EVENT(made, PROF_EVENT_START,
               (struct prof_event_start){rate_mhz, depth});
}

/* parent:14 offset:26 */
static inline void made_parent(uint8_t *to, uint32_t parent, uint64_t address)
{
    made_bits(to, (address - MADE_TEXT) << 14 | parent, 5);
}

static inline bool made_is_short(uint32_t node, uint32_t parent,
                                 uint64_t address)
{
    return node < 1 << 14 && parent < 1 << 14 && address >= MADE_TEXT &&
           address - MADE_TEXT < 1 << 26;
}

static inline void made_node(struct made *made, uint32_t node, uint32_t parent,
                             uint64_t address)
{
    if (made_is_short(node, parent, address)) {
        uint64_t step = made->step;
        uint8_t *to;

        made->step = 0; /* it has no time */
        to = made_room(made, PROF_NODE_BYTES);
        made->step = step;
        made_bits(to, node << 2 | PROF_EVENT_NODE, 2);
        made_parent(to + 2, parent, address);
    } else {
        MADE_EVENT(made, PROF_EVENT_NODE_WIDE,
                   (struct prof_event_node_wide){node, parent, address});
    }
}

/* The first word of a SAMPLE or LEAF, now. */
static inline void made_short(struct made *made, uint8_t *to,
                              enum prof_event kind, uint32_t node)
{
    made_bits(to, node << 18 | (made->time & 0xffff) << 2 | (uint64_t)kind, 4);
    made->last = made->time;
}

static inline void made_sample(struct made *made, uint32_t node)
{
    bool soon =
        made->used == 0 || made->time + made->step - made->last < 1 << 16;

    if (soon && node < 1 << 14)
        made_short(made, made_room(made, PROF_SAMPLE_BYTES), PROF_EVENT_SAMPLE,
                   node);
    else if (node < 1 << 16)
        MADE_EVENT(made, PROF_EVENT_SAMPLE_LATE, (uint16_t){(uint16_t)node});
    else
        MADE_EVENT(made, PROF_EVENT_SAMPLE_WIDE, (uint32_t){node});
}

/* A node and a sample of it in one; all is small and soon enough. */
static inline void made_leaf(struct made *made, uint32_t node, uint32_t parent,
                             uint64_t address)
{
    uint8_t *to = made_room(made, PROF_LEAF_BYTES);

    made_short(made, to, PROF_EVENT_LEAF, node);
    made_parent(to + 4, parent, address);
}

/* A kind with one word of fields (MISS, SWITCH, BYE), or with none. */
static inline void made_word(struct made *made, enum prof_event kind,
                             uint32_t word)
{
    MADE_EVENT(made, kind, word);
}

static inline void made_bare(struct made *made, enum prof_event kind)
{
    made_event(made, kind, NULL, 0);
}

/* The finished packet (index), which is there, and its length. */
static inline uint8_t *made_packet(const struct made *made, size_t index,
                                   size_t *bytes)
{
    uint8_t *at = made->bytes;

    for (;;) {
        uint32_t bits;

        memcpy(&bits, at + offsetof(struct prof_packet, packet_bits),
               sizeof bits);
        *bytes = bits / 8;
        if (index-- == 0)
            return at;
        at += *bytes;
    }
}

/* The bytes at (bytes) as one "#prof" line; (line) has room for 1200. */
static inline size_t made_line(char *line, uint32_t sequence, unsigned part,
                               unsigned parts, const uint8_t *bytes,
                               size_t count)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
                                  "qrstuvwxyz0123456789+/";
    char *to =
        line + sprintf(line, PROF_LINE_MARK "%u.%u/%u ", sequence, part, parts);

    for (size_t i = 0; i < count; i += 3) {
        uint32_t word = (uint32_t)bytes[i] << 16;

        word |= i + 1 < count ? (uint32_t)bytes[i + 1] << 8 : 0;
        word |= i + 2 < count ? bytes[i + 2] : 0;
        *to++ = letters[word >> 18];
        *to++ = letters[word >> 12 & 63];
        *to++ = i + 1 < count ? letters[word >> 6 & 63] : '=';
        *to++ = i + 2 < count ? letters[word & 63] : '=';
    }
    to += sprintf(to, " %08x\r\n", made_crc32c(bytes, count));
    return (size_t)(to - line);
}

/* The finished packet (index) as lines, to (text). */
static inline size_t made_lines(const struct made *made, size_t index,
                                char *text)
{
    size_t bytes, used = 0;
    const uint8_t *packet = made_packet(made, index, &bytes);
    unsigned parts =
        (unsigned)((bytes + PROF_LINE_BYTES - 1) / PROF_LINE_BYTES);

    for (unsigned part = 1; part <= parts; ++part) {
        size_t some = bytes < PROF_LINE_BYTES ? bytes : PROF_LINE_BYTES;

        used +=
            made_line(text + used, (uint32_t)index, part, parts, packet, some);
        packet += some;
        bytes -= some;
    }
    return used;
}

#endif
