/* SPDX-License-Identifier: Apache-2.0 */
/* Source: Ethernet II, ARP (RFC 826), IPv4 (RFC 791), TCP (RFC 793). */

#include "frame.h"

#include <string.h>

#define KIND_AT 12u
#define KIND_ARP 0x0806u
#define KIND_IPV4 0x0800u
#define IP 14u
#define TCP (IP + 20u)
#define PROTOCOL_TCP 6u
#define WINDOW 60000u
#define ARP_TARGET 38u

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

/* Adds (bytes) at (from) to the sum of a checksum. */
static uint32_t add_to_sum(uint32_t sum, const uint8_t *from, size_t bytes)
{
    for (; bytes >= 2; bytes -= 2, from += 2)
        sum += get16(from);
    return bytes != 0 ? sum + ((uint32_t)from[0] << 8) : sum;
}

static uint16_t fold(uint32_t sum)
{
    sum = (sum & UINT16_MAX) + (sum >> 16);
    return (uint16_t) ~(sum + (sum >> 16));
}

static void put_ip(uint8_t *at, const struct frame_ends *ends, size_t bytes)
{
    memset(at, 0, TCP - IP);
    at[0] = 0x45;
    put16(at + 2, (uint16_t)bytes);
    at[8] = 64;
    at[9] = PROTOCOL_TCP;
    put32(at + 12, ends->client_ip);
    put32(at + 16, ends->service_ip);
    put16(at + 10, fold(add_to_sum(0, at, TCP - IP)));
}

static void put_sum(uint8_t *frame, size_t bytes)
{
    uint32_t sum =
        add_to_sum(PROTOCOL_TCP + (uint32_t)bytes, frame + IP + 12, 8);

    put16(frame + TCP + 16, fold(add_to_sum(sum, frame + TCP, bytes)));
}

static void put_mac(uint8_t *at)
{
    memcpy(at, "\x52\x54\0\0\0\1", FRAME_MAC);
}

size_t frame_build(uint8_t *to, const struct frame_ends *ends,
                   struct frame_tcp *tcp, uint8_t flags, size_t bytes)
{
    memset(to, 0, FRAME_HEAD);
    memcpy(to, ends->service_mac, FRAME_MAC);
    put_mac(to + FRAME_MAC);
    put16(to + KIND_AT, KIND_IPV4);
    put_ip(to + IP, ends, FRAME_HEAD - IP + bytes);
    put16(to + TCP, tcp->port);
    put16(to + TCP + 2, ends->service_port);
    put32(to + TCP + 4, tcp->to_send);
    put32(to + TCP + 8, tcp->to_take);
    to[TCP + 12] = 5 << 4;
    to[TCP + 13] = flags;
    put16(to + TCP + 14, WINDOW);
    put_sum(to, FRAME_HEAD - TCP + bytes);
    tcp->to_send += (uint32_t)bytes + ((flags & (FRAME_SYN | FRAME_FIN)) != 0);
    return FRAME_HEAD + bytes;
}

bool frame_takes(struct frame_tcp *tcp, const struct frame_segment *segment)
{
    if (segment->reset || segment->syn == tcp->open ||
        (tcp->open && segment->number != tcp->to_take))
        return false;
    tcp->open = true;
    tcp->to_take = segment->number + (uint32_t)segment->bytes + segment->syn +
                   segment->fin;
    return true;
}

bool frame_read(const uint8_t *frame, size_t bytes,
                struct frame_segment *segment)
{
    size_t header, total;

    if (bytes < FRAME_HEAD || get16(frame + KIND_AT) != KIND_IPV4 ||
        frame[IP] != 0x45 || frame[IP + 9] != PROTOCOL_TCP)
        return false;
    header = TCP - IP + (size_t)(frame[TCP + 12] >> 4) * 4;
    total = get16(frame + IP + 2);
    if (total < header || total > bytes - IP)
        return false;
    *segment = (struct frame_segment){
        .port = get16(frame + TCP + 2),
        .number = get32(frame + TCP + 4),
        .payload = (const char *)frame + IP + header,
        .bytes = total - header,
        .syn = (frame[TCP + 13] & FRAME_SYN) != 0,
        .fin = (frame[TCP + 13] & FRAME_FIN) != 0,
        .reset = (frame[TCP + 13] & FRAME_RST) != 0,
    };
    return true;
}

void frame_ask(uint8_t *to, const struct frame_ends *ends)
{
    memset(to, 0, FRAME_ARP);
    memset(to, 0xff, FRAME_MAC);
    put_mac(to + FRAME_MAC);
    memcpy(to + KIND_AT, "\x08\x06\0\x01\x08\0\x06\x04\0\x01", 10);
    put_mac(to + 22);
    put32(to + 28, ends->client_ip);
    put32(to + ARP_TARGET, ends->service_ip);
}

bool frame_asks(const uint8_t *frame, size_t bytes, uint32_t ip)
{
    return bytes >= FRAME_ARP && get16(frame + KIND_AT) == KIND_ARP &&
           frame[21] == 1 && get32(frame + ARP_TARGET) == ip;
}

void frame_answer(uint8_t *to, const uint8_t *question)
{
    memcpy(to, question, FRAME_ARP);
    memcpy(to, question + FRAME_MAC, FRAME_MAC);
    put_mac(to + FRAME_MAC);
    to[21] = 2;
    put_mac(to + 22);
    memcpy(to + 28, question + ARP_TARGET, 4);
    memcpy(to + 32, question + 22, FRAME_MAC + 4);
}
