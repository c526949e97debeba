/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TRACE_H
#define NET_TRACE_H

/* What the recorder of tasks (<prof/trace.h>) learns of TCP, and of packets. */

#include "../trace.h"

#include <lwip/tcp.h>
#include <prof/trace.h>
#include <stdbool.h>

/* Reports the counters of the connection (pcb): segments and bytes that were
 * sent and not acknowledged, and both windows. */
void net_trace_counters(const struct tcp_pcb *pcb);

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

static inline void net_trace(const struct tcp_pcb *pcb)
{
    if (prof_trace_is_on())
        net_trace_counters(pcb);
}

#endif
