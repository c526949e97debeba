/* SPDX-License-Identifier: Apache-2.0 */

#include "trace.h"

#include <lwip/priv/tcp_priv.h>
#include <stddef.h>

static PROF_TRACE_NAME(segments, "TCP segments not acknowledged");
static PROF_TRACE_NAME(bytes, "TCP bytes not acknowledged");
static PROF_TRACE_NAME(congestion, "TCP congestion window");
static PROF_TRACE_NAME(receiver, "TCP receiver's window");

/* A counter and what it was last; all connections share them. */
static struct counter {
    struct prof_trace_name *name;
    int64_t value;
} counters[] = {
    {&segments, -1}, {&bytes, -1}, {&congestion, -1}, {&receiver, -1}};

static int64_t count_segments(const struct tcp_seg *segment)
{
    int64_t count = 0;

    for (; segment != NULL; segment = segment->next)
        count++;
    return count;
}

void net_trace_counters(const struct tcp_pcb *pcb)
{
    const int64_t now[] = {count_segments(pcb->unacked),
                           (int64_t)(pcb->snd_nxt - pcb->lastack), pcb->cwnd,
                           pcb->snd_wnd};

    for (size_t i = 0; i < sizeof now / sizeof *now; i++) {
        if (counters[i].value == now[i])
            continue;
        counters[i].value = now[i];
        prof_trace_counter(counters[i].name, now[i]);
    }
}
