/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUB_REMOTE_H
#define STUB_REMOTE_H

/*
 * GDB's remote serial protocol as bytes: packets from bytes, and bytes of
 * packets. What the packets mean is stub.h's. A reader takes any bytes: those
 * outside packets are skipped, a packet with a wrong checksum is reported as
 * damaged, one beyond REMOTE_PACKET_MAX too.
 *
 * Source: "Debugging with GDB", appendix "GDB Remote Serial Protocol".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REMOTE_PACKET_MAX 65536u

enum remote_event {
    REMOTE_MORE,    /* nothing is complete yet */
    REMOTE_PACKET,  /* reader->data has one, of reader->used bytes */
    REMOTE_DAMAGED, /* one came, and is lost */
};

/* Starts as zeros. */
struct remote_reader {
    enum {
        REMOTE_IDLE,
        REMOTE_DATA,
        REMOTE_ESCAPED,
        REMOTE_REPEAT,
        REMOTE_SUM,
        REMOTE_SUM_LAST,
    } state;
    bool notification; /* not asked for, and of no interest */
    bool overlong;
    uint8_t sum;
    uint8_t wanted;
    size_t used;
    uint8_t data[REMOTE_PACKET_MAX + 1]; /* decoded, and a zero */
};

/* Takes the next byte. */
enum remote_event remote_feed(struct remote_reader *reader, uint8_t byte);

/* Takes the bytes of a packet that stand for themselves, as most of them do;
 * returns how many. The next byte is for remote_feed(). */
size_t remote_feed_plain(struct remote_reader *reader, const uint8_t *bytes,
                         size_t count);

/* The packet of (payload) to (to); its bytes, 0 if (room) is too small. */
size_t remote_frame(char *to, size_t room, const char *payload);

/* Decodes at most (room) pairs of hexadecimal digits; returns how many. */
size_t remote_hex(const uint8_t *digits, size_t count, uint8_t *to,
                  size_t room);

#endif
