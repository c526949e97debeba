/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FRAME_H
#define FRAME_H

/* Frames of clients, as few as are needed. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_ARP 42u
#define FRAME_FIN 0x01u
#define FRAME_SYN 0x02u
#define FRAME_RST 0x04u
#define FRAME_PUSH 0x08u
#define FRAME_ACK 0x10u

/* A client's end of a connection. */
struct tcp {
    uint16_t port;
    uint32_t to_send; /* next sequence number */
    uint32_t to_take; /* the other side's next; 0: it has sent none */
};

/* What the service has sent. */
struct segment {
    uint16_t port; /* the client's */
    uint32_t number;
    size_t bytes;
    bool syn, fin, reset;
};

/* Builds a segment to the service with (bytes) of payload; how long it is. */
size_t frame_tcp(uint8_t *to, struct tcp *tcp, uint8_t flags, size_t bytes);

/* Whether (segment) comes next; then it is taken. */
bool tcp_takes(struct tcp *tcp, const struct segment *segment);

/* False: it is none of TCP. */
bool frame_read(const uint8_t *frame, size_t bytes, struct segment *segment);

bool frame_is_arp(const uint8_t *frame);
void frame_arp_answer(uint8_t *to, const uint8_t *question);

#endif
