/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TRACE_H
#define NET_TRACE_H

/* What the recorder of tasks (<prof/trace.h>) learns of TCP, and of packets. */

#include "../trace.h"

#include <lwip/tcp.h>
#include <prof/trace.h>
#include <stdbool.h>

/* The sequence numbers of a connection up to which counters have its bytes. */
struct net_trace_counted {
    uint32_t given, sent, acknowledged;
    bool follows; /* they are counted since then */
};

/* Nothing was given to (pcb) yet, which is connected. */
static inline void net_trace_begin(struct net_trace_counted *counted,
                                   const struct tcp_pcb *pcb)
{
    counted->given = counted->sent = counted->acknowledged = pcb->snd_lbb;
    counted->follows = prof_trace_is_on();
}

/* Reports the bytes that TCP was given, has sent, and has got acknowledged, of
 * all connections, as far as they have increased by (pcb), whose (counted) this
 * is; its service may still write to it if (is_open). With net.counters=all
 * also what (pcb) has sent and was not acknowledged, as segments and bytes, and
 * both of its windows. */
void net_trace_counters(struct net_trace_counted *counted,
                        const struct tcp_pcb *pcb, bool is_open);

/* Reports that (frame) is sent, or received, if it is an IPv4 packet. */
void net_trace_packet(const struct pbuf *frame, bool sent);

static inline void net_trace_sent(const struct pbuf *frame)
{
    if (prof_trace_is_on() && trace_hides == 0)
        net_trace_packet(frame, true);
}

static inline void net_trace_received(const struct pbuf *frame)
{
    if (prof_trace_is_on() && trace_hides == 0)
        net_trace_packet(frame, false);
}

static inline void net_trace(struct net_trace_counted *counted,
                             const struct tcp_pcb *pcb, bool is_open)
{
    if (prof_trace_is_on())
        net_trace_counters(counted, pcb, is_open);
    else
        counted->follows = false;
}

#endif
