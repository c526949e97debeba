/* SPDX-License-Identifier: Apache-2.0 */
/* Source: Ethernet II, ARP (RFC 826), IPv4 (RFC 791), TCP (RFC 793). */

#include "frame.h"

#include "wire.h"

#include <string.h>

#define KIND_AT 12u
#define KIND_ARP 0x0806u
#define KIND_IPV4 0x0800u
#define IP 14u
#define TCP (IP + 20u)
#define PAYLOAD (TCP + 20u)
#define SERVICE_IP 0x0a00020fu
#define CLIENT_IP 0x0a000202u
#define MAC_BYTES 6u
#define WINDOW 60000u

static void put16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, (uint16_t)(value >> 16));
    put16(at + 2, (uint16_t)value);
}

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)get16(at) << 16 | get16(at + 2);
}

static void put_ip(uint8_t *at, size_t bytes)
{
    uint32_t sum = 0;

    memset(at, 0, 20);
    at[0] = 0x45;
    put16(at + 2, (uint16_t)bytes);
    at[8] = 64;
    at[9] = 6;
    put32(at + 12, CLIENT_IP);
    put32(at + 16, SERVICE_IP);
    for (unsigned i = 0; i < 20; i += 2)
        sum += get16(at + i);
    sum = (sum & UINT16_MAX) + (sum >> 16);
    put16(at + 10, (uint16_t) ~(sum + (sum >> 16)));
}

size_t frame_tcp(uint8_t *to, struct tcp *tcp, uint8_t flags, size_t bytes)
{
    memset(to, 0, PAYLOAD + bytes);
    memset(to, 'R', MAC_BYTES);
    memset(to + MAC_BYTES, 'C', MAC_BYTES);
    put16(to + KIND_AT, KIND_IPV4);
    put_ip(to + IP, PAYLOAD - IP + bytes);
    put16(to + TCP, tcp->port);
    put16(to + TCP + 2, WIRE_PORT);
    put32(to + TCP + 4, tcp->to_send);
    put32(to + TCP + 8, tcp->to_take);
    to[TCP + 12] = 5 << 4;
    to[TCP + 13] = flags;
    put16(to + TCP + 14, WINDOW);
    tcp->to_send += (uint32_t)bytes + ((flags & (FRAME_SYN | FRAME_FIN)) != 0);
    return PAYLOAD + bytes;
}

bool tcp_takes(struct tcp *tcp, const struct segment *segment)
{
    if (segment->reset || (segment->syn != (tcp->to_take == 0)) ||
        (!segment->syn && segment->number != tcp->to_take))
        return false;
    tcp->to_take = segment->number + (uint32_t)segment->bytes + segment->syn +
                   segment->fin;
    return true;
}

bool frame_read(const uint8_t *frame, size_t bytes, struct segment *segment)
{
    size_t header;

    if (bytes < PAYLOAD || get16(frame + KIND_AT) != KIND_IPV4 ||
        frame[IP + 9] != 6)
        return false;
    header = (size_t)(frame[TCP + 12] >> 4) * 4;
    *segment = (struct segment){
        .port = get16(frame + TCP + 2),
        .number = get32(frame + TCP + 4),
        .bytes = get16(frame + IP + 2) - (TCP - IP) - header,
        .syn = (frame[TCP + 13] & FRAME_SYN) != 0,
        .fin = (frame[TCP + 13] & FRAME_FIN) != 0,
        .reset = (frame[TCP + 13] & FRAME_RST) != 0,
    };
    return true;
}

bool frame_is_arp(const uint8_t *frame)
{
    return get16(frame + KIND_AT) == KIND_ARP && frame[21] == 1;
}

void frame_arp_answer(uint8_t *to, const uint8_t *question)
{
    memcpy(to, question, FRAME_ARP);
    memcpy(to, question + MAC_BYTES, MAC_BYTES);
    memset(to + MAC_BYTES, 'C', MAC_BYTES);
    to[21] = 2;
    memset(to + 22, 'C', MAC_BYTES);
    memcpy(to + 28, question + 38, 4);
    memcpy(to + 32, question + 22, MAC_BYTES + 4);
}
