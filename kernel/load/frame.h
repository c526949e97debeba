/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_LOAD_FRAME_H
#define KERNEL_LOAD_FRAME_H

/* Frames of the clients, as few as are needed. Addresses are in host byte
 * order. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_MAX 1514u
#define FRAME_ARP 42u
#define FRAME_HEAD 54u /* Ethernet, IPv4 and TCP without options */
#define FRAME_FIN 0x01u
#define FRAME_SYN 0x02u
#define FRAME_RST 0x04u
#define FRAME_PUSH 0x08u
#define FRAME_ACK 0x10u

#define FRAME_MAC 6u
struct frame_ends {
    uint8_t service_mac[FRAME_MAC];
    uint32_t service_ip, client_ip;
    uint16_t service_port;
};

/* A client's end of a connection. */
struct frame_tcp {
    uint16_t port;
    uint32_t to_send; /* next sequence number */
    uint32_t to_take; /* the other side's next */
    bool open;        /* that has sent one */
};

/* What the service has sent. */
struct frame_segment {
    uint16_t port; /* the client's */
    uint32_t number;
    const char *payload;
    size_t bytes;
    bool syn, fin, reset;
};

/* Builds a segment to the service around (bytes) of payload, which are at (to)
 * + FRAME_HEAD, with both checksums. Returns how long it is. */
size_t frame_build(uint8_t *to, const struct frame_ends *ends,
                   struct frame_tcp *tcp, uint8_t flags, size_t bytes);

/* Whether (segment) comes next; then it is taken. */
bool frame_takes(struct frame_tcp *tcp, const struct frame_segment *segment);

/* False: it is none of TCP, or damaged. */
bool frame_read(const uint8_t *frame, size_t bytes,
                struct frame_segment *segment);

/* Writes the question for the service's address, FRAME_ARP bytes. */
void frame_ask(uint8_t *to, const struct frame_ends *ends);

/* Whether it asks for the clients' address; then the answer. */
bool frame_asks(const uint8_t *frame, size_t bytes, uint32_t ip);
void frame_answer(uint8_t *to, const uint8_t *question);

#endif
