/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the counts of the stack. */

#include "net.h"

#include <lwip/priv/tcp_priv.h>
#include <lwip/stats.h>
#include <virtio_net.h>

static uint32_t count_time_wait(void)
{
    uint32_t count = 0;

    for (const struct tcp_pcb *each = tcp_tw_pcbs; each != NULL;
         each = each->next)
        count++;
    return count;
}

static uint32_t used(memp_t pool)
{
    return lwip_stats.memp[pool]->used;
}

static uint32_t refusals(void)
{
    uint32_t count = net_port_refusals();

    for (unsigned i = 0; i < MEMP_MAX; i++)
        count += lwip_stats.memp[i]->err;
    return count;
}

/* Errors in received packets, of all protocols. */
static uint64_t damage(void)
{
    const struct stats_proto *each[] = {
        &lwip_stats.link, &lwip_stats.etharp, &lwip_stats.ip,
        &lwip_stats.icmp, &lwip_stats.udp,    &lwip_stats.tcp,
    };
    uint64_t count = 0;

    for (unsigned i = 0; i < sizeof each / sizeof *each; i++)
        count += each[i]->chkerr + each[i]->lenerr + each[i]->proterr;
    return count;
}

void net_stats(struct net_stats *stats)
{
    *stats = (struct net_stats){0};
    if (lwip_stats.memp[MEMP_TCP_PCB] == NULL)
        return; /* not started */
    *stats = (struct net_stats){
        .connections = net_conn_counts.open,
        .closing = net_conn_counts.closing,
        .pcbs = used(MEMP_TCP_PCB) + used(MEMP_TCP_PCB_LISTEN),
        .pcbs_waiting = count_time_wait(),
        .buffers = used(MEMP_PBUF) + used(MEMP_PBUF_POOL),
        .segments = used(MEMP_TCP_SEG),
        .heap_pieces = net_port_pieces(),
        .refusals = refusals(),
        .accepted = net_conn_counts.accepted,
        .refused = net_conn_counts.refused,
        .frames_in = net_device_counts.in,
        .frames_out = net_link_counts.out,
        .dropped_in = net_device_counts.dropped_in,
        .dropped_out = net_link_counts.dropped_out,
        .damaged_in = damage(),
        .kicks = virtio_net_out()->counts.kicks,
        .interrupts = virtio_net_interrupts(),
        .offload = virtio_net_sums(),
    };
}
