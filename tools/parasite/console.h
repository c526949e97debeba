/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONSOLE_H
#define CONSOLE_H

/*
 * Packets out of the text of a serial console: lines "#prof SEQUENCE.PART/PARTS
 * BASE64 CRC" (<prof/format.h>) among whatever else the guest printed.
 *
 * A line is taken wherever in a line of the log it begins, with or without a
 * carriage return, so that a log from a terminal, from a file or with a
 * time stamp before each line will do. Each line has its own checksum; the
 * parts of a packet may come in any order and more than once.
 */

#include "packet.h"

#define CONSOLE_LINE_MAX 4096  /* longer ones are taken in pieces */
#define CONSOLE_PARTS_MAX 128  /* of one packet */
#define CONSOLE_PACKETS_MAX 16 /* in the making at a time */

struct console_packet {
    uint8_t *bytes; /* NULL = this place is free */
    uint32_t sequence;
    uint32_t parts;
    uint32_t missing;               /* parts */
    uint32_t last_bytes;            /* of the last part */
    uint64_t age;                   /* when it was begun */
    uint8_t has[CONSOLE_PARTS_MAX]; /* by part */
};

/* Starts as zeros and a sink. */
struct console {
    struct packet_sink sink;
    /* where the other output goes, line by line, if it is not NULL */
    void (*other)(void *owner, const char *line, size_t bytes);
    uint64_t bad_lines;   /* "#prof" lines that were damaged */
    uint64_t bad_packets; /* of good lines, and wrong nevertheless */
    uint64_t cut_packets; /* of which lines are missing */
    uint64_t age;
    struct console_packet making[CONSOLE_PACKETS_MAX];
    char line[CONSOLE_LINE_MAX];
    size_t line_bytes;
};

void console_feed(struct console *console, const void *text, size_t count);

/* The text is over; frees what the console holds. */
void console_end(struct console *console);

/* Decodes (chars) characters of base64 (RFC 4648, section 4) to (out), which
 * has room for 3 bytes for each 4 of them. False if it is none. */
bool base64_decode(const char *text, size_t chars, uint8_t *out,
                   size_t *out_bytes);

#endif
