/* SPDX-License-Identifier: Apache-2.0 */

#include "trace.h"

#include "net.h"

#include <lwip/ip.h>
#include <lwip/pbuf.h>
#include <lwip/priv/tcp_priv.h>
#include <stddef.h>
#include <string.h>

/* ---- how far transfers are; names that end alike share a scale */

static PROF_TRACE_COUNTER(given_bytes, "TCP bytes #given");
static PROF_TRACE_COUNTER(sent_bytes, "TCP bytes #sent");
static PROF_TRACE_COUNTER(acknowledged_bytes, "TCP bytes #acknowledged");

static void count_up_to(struct prof_trace_sum *counter, uint32_t *counted,
                        uint32_t now)
{
    if (now == *counted)
        return;
    prof_trace_counter_add(counter, now - *counted);
    *counted = now;
}

/* The sequence number (number), but not that of a FIN. */
static uint32_t within(uint32_t number, uint32_t last)
{
    return TCP_SEQ_GT(number, last) ? last : number;
}

/* What was transferred while nothing was recorded is in no counter. */
static void follow(struct net_trace_counted *counted, const struct tcp_pcb *pcb,
                   bool is_open)
{
    if (is_open)
        counted->given = pcb->snd_lbb;
    counted->sent = within(pcb->snd_nxt, counted->given);
    counted->acknowledged = within(pcb->lastack, counted->given);
    counted->follows = true;
}

static void count_progress(struct net_trace_counted *counted,
                           const struct tcp_pcb *pcb, bool is_open)
{
    if (!counted->follows)
        follow(counted, pcb, is_open);
    /* later it may include a FIN */
    if (is_open)
        count_up_to(&given_bytes, &counted->given, pcb->snd_lbb);
    count_up_to(&sent_bytes, &counted->sent,
                within(pcb->snd_nxt, counted->given));
    count_up_to(&acknowledged_bytes, &counted->acknowledged,
                within(pcb->lastack, counted->given));
}

/* ---- what is in flight, and what may be */

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

static void report_windows(const struct tcp_pcb *pcb)
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

void net_trace_counters(struct net_trace_counted *counted,
                        const struct tcp_pcb *pcb, bool is_open)
{
    count_progress(counted, pcb, is_open);
    if (net_settings.all_counters)
        report_windows(pcb);
}

/* ---- packets */

#define ETHERNET_BYTES 14u
#define IP_BYTES 20u
#define NEXT_BYTES 8u /* of TCP's head, or UDP's */

static uint32_t mix(uint32_t sum, const uint8_t *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof word);
    sum = (sum ^ word) * 0x9e3779b1u;
    return sum ^ sum >> 15;
}

/* A number of what neither devices nor routers change on the way, unless they
 * translate addresses: length, identification, protocol, addresses, ports, and
 * TCP's sequence number. What is sent again has another identification. */
static uint32_t number_of(const uint8_t *ip)
{
    const uint8_t parts[4] = {ip[2], ip[3], ip[9], 0};
    const uint8_t id[4] = {ip[4], ip[5], 0, 0};
    const unsigned head = (ip[0] & 0xfu) * 4;
    uint32_t sum = mix(mix(0, parts), id);

    sum = mix(mix(sum, ip + 12), ip + 16);
    if (head != IP_BYTES)
        return sum;
    sum = mix(sum, ip + IP_BYTES);
    return ip[9] == IP_PROTO_TCP ? mix(sum, ip + IP_BYTES + 4) : sum;
}

void net_trace_packet(const struct pbuf *frame, bool sent)
{
    uint8_t head[ETHERNET_BYTES + IP_BYTES + NEXT_BYTES] = {0};
    const uint8_t *ip = head + ETHERNET_BYTES;
    u16_t copied = pbuf_copy_partial(frame, head, sizeof head, 0);

    if (copied < ETHERNET_BYTES + IP_BYTES || head[12] != 8 || head[13] != 0)
        return;
    prof_trace_message(number_of(ip), sent);
}
