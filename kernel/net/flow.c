/* SPDX-License-Identifier: Apache-2.0 */
/* Source: Ethernet II, IPv4 (RFC 791), UDP (RFC 768), TCP (RFC 793). */

#include "flow.h"

#define KIND_AT 12u
#define KIND_IPV4 0x0800u
#define IP_BYTES 20u
#define IP_TOTAL_AT 2u
#define IP_FRAGMENT_AT 6u
#define IP_OFFSET_MASK 0x1fffu
#define IP_PROTOCOL_AT 9u
#define IP_SOURCE_AT 12u
#define IP_DESTINATION_AT 16u
#define TCP_BYTES 20u
#define TCP_OFFSET_AT 12u
#define TCP_FLAGS_AT 13u
#define TCP_FIN 0x01u
#define TCP_SYN 0x02u
#define TCP_RST 0x04u
#define UDP_BYTES 8u

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)get16(at) << 16 | get16(at + 2);
}

/* (bytes) from (at), the header of TCP, on. */
static bool read_tcp(const uint8_t *at, size_t bytes, struct net_flow *flow)
{
    size_t header;

    if (bytes < TCP_BYTES)
        return false;
    header = (size_t)(at[TCP_OFFSET_AT] >> 4) * 4;
    flow->begins = (at[TCP_FLAGS_AT] & TCP_SYN) != 0;
    flow->ends = (at[TCP_FLAGS_AT] & (TCP_FIN | TCP_RST)) != 0;
    flow->resets = (at[TCP_FLAGS_AT] & TCP_RST) != 0;
    flow->data = header < bytes;
    return true;
}

bool net_flow_read(const uint8_t *frame, size_t bytes, bool out,
                   struct net_flow *flow)
{
    const uint8_t *ip = frame + NET_FLOW_ETHERNET, *at;
    size_t header, total;

    if (bytes < NET_FLOW_ETHERNET + IP_BYTES ||
        get16(frame + KIND_AT) != KIND_IPV4 || ip[0] >> 4 != 4)
        return false;
    header = (size_t)(ip[0] & 0xf) * 4;
    total = get16(ip + IP_TOTAL_AT); /* short frames are padded */
    if (total > bytes - NET_FLOW_ETHERNET || header < IP_BYTES ||
        total < header + UDP_BYTES ||
        (get16(ip + IP_FRAGMENT_AT) & IP_OFFSET_MASK) != 0)
        return false;
    at = ip + header;
    *flow = (struct net_flow){
        .ip = get32(ip + (out ? IP_DESTINATION_AT : IP_SOURCE_AT)),
        .port = get16(out ? at + 2 : at),
        .own = get16(out ? at : at + 2),
        .protocol = ip[IP_PROTOCOL_AT],
        .data = total > header + UDP_BYTES,
    };
    if (flow->protocol == NET_FLOW_TCP)
        return read_tcp(at, total - header, flow);
    return flow->protocol == NET_FLOW_UDP;
}
