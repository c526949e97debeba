/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_FLOW_H
#define KERNEL_NET_FLOW_H

/* Which connection a frame belongs to, and what it does to it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_FLOW_ETHERNET 14u /* bytes before the packet */

struct net_flow {
    uint32_t ip;        /* of the other side, in host byte order */
    uint16_t port, own; /* theirs and ours */
    uint8_t protocol;   /* of IPv4: NET_FLOW_TCP or NET_FLOW_UDP */
    bool begins;        /* TCP: SYN */
    bool ends;          /* FIN or RST */
    bool resets;        /* RST */
    bool data;          /* it has a payload */
};

#define NET_FLOW_TCP 6u
#define NET_FLOW_UDP 17u

/* Reads the frame of (bytes) bytes, which is sent (out) or received. False: it
 * is neither TCP nor UDP, or a fragment after the first. */
bool net_flow_read(const uint8_t *frame, size_t bytes, bool out,
                   struct net_flow *flow);

#endif
