/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_CONSOLE_H
#define TRACE_CONSOLE_H

/*
 * Packets from the text of a serial console: lines "#prof SEQUENCE.PART/PARTS
 * BASE64 CRC" (<prof/format.h>) among other output of the guest.
 *
 * Such a line may begin anywhere in a line of the log, with or without a
 * carriage return, so a log from a terminal, from a file or with time stamps
 * will do. Each line has its own checksum. The parts of a packet may come in
 * any order, and repeatedly.
 */

#include "trace/packet.h"

#define CONSOLE_LINE_MAX 4096  /* longer ones are taken in pieces */
#define CONSOLE_PARTS_MAX 128  /* of one packet */
#define CONSOLE_PACKETS_MAX 16 /* assembled at a time */

struct console_packet {
    uint8_t *bytes; /* NULL = the slot is free */
    uint32_t sequence;
    uint32_t parts;
    uint32_t missing;               /* parts */
    uint32_t last_bytes;            /* of the last part */
    uint64_t age;                   /* when it was started */
    uint8_t has[CONSOLE_PARTS_MAX]; /* by part */
};

/* Starts as zeros and a sink. */
struct console {
    struct packet_sink sink;
    /* receives the other output line by line, if not NULL */
    void (*other)(void *owner, const char *line, size_t bytes);
    uint64_t bad_lines;   /* "#prof" lines that were damaged */
    uint64_t bad_packets; /* valid lines, invalid packet */
    uint64_t cut_packets; /* with lines missing */
    uint64_t age;
    struct console_packet making[CONSOLE_PACKETS_MAX];
    char line[CONSOLE_LINE_MAX];
    size_t line_bytes;
};

void console_feed(struct console *console, const void *text, size_t count);

/* The text has ended; frees what the console holds. */
void console_end(struct console *console);

#endif
