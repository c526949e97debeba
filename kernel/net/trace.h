/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TRACE_H
#define NET_TRACE_H

/* What the recorder of tasks (<prof/trace.h>) learns of TCP. */

#include <lwip/tcp.h>
#include <prof/trace.h>

/* Reports the counters of the connection (pcb): segments and bytes that were
 * sent and not acknowledged, and both windows. */
void net_trace_counters(const struct tcp_pcb *pcb);

static inline void net_trace(const struct tcp_pcb *pcb)
{
    if (prof_trace_is_on())
        net_trace_counters(pcb);
}

#endif
