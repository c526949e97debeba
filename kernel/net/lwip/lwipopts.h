/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_LWIP_OPTS_H
#define KERNEL_NET_LWIP_OPTS_H

/*
 * Configuration of lwIP: no threads, raw interface only, IPv4 with TCP, and UDP
 * for DHCP. Small objects come from pools of a fixed size, so that peers cannot
 * exhaust the heap; payload of outgoing packets comes from the heap.
 */

#include <kernel/net.h>

#define NO_SYS 1
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0
#define SYS_LIGHTWEIGHT_PROT 0

#define LWIP_IPV6 0
#define LWIP_ARP 1
#define LWIP_ICMP 1
#define LWIP_RAW 0
#define LWIP_DHCP 1
#define DHCP_DOES_ARP_CHECK 0 /* costs a second at each boot */
#define LWIP_NETIF_STATUS_CALLBACK 1
#define LWIP_NETIF_HOSTNAME 1

/* Memory. */
#define MEM_ALIGNMENT 8
#define MEM_LIBC_MALLOC 1
#define mem_clib_malloc net_port_alloc
#define mem_clib_calloc net_port_alloc_zeroed
#define mem_clib_free net_port_free
#define MEMP_NUM_PBUF 256
#define MEMP_NUM_TCP_PCB NET_CONNECTIONS /* including TIME-WAIT */
#define MEMP_NUM_TCP_PCB_LISTEN 16
#define MEMP_NUM_TCP_SEG 8192
#define MEMP_NUM_UDP_PCB 4
#define MEMP_NUM_ARP_QUEUE 64
#define PBUF_POOL_SIZE 512
#define PBUF_POOL_BUFSIZE 1528 /* a frame in one piece */
#define MEMP_NUM_REASSDATA 8
#define IP_REASS_MAX_PBUFS 32

/* TCP. The sizes are part of <kernel/net.h>. */
#define TCP_MSS 1460
#define TCP_WND NET_WINDOW
#define TCP_SND_BUF NET_ROOM_MAX
#define TCP_SND_QUEUELEN 160
#define TCP_LISTEN_BACKLOG 1
#define TCP_DEFAULT_LISTEN_BACKLOG NET_BACKLOG
#define TCP_QUEUE_OOSEQ 1
#define TCP_OOSEQ_MAX_PBUFS 12 /* per peer, to protect the pool */
#define LWIP_TCP_KEEPALIVE 1
#define TCP_KEEPIDLE_DEFAULT 60000UL
#define TCP_KEEPINTVL_DEFAULT 10000UL
#define TCP_KEEPCNT_DEFAULT 6U

/* Initial retransmission timeout (RFC 6298). */
#define LWIP_TCP_RTO_TIME 1000

/* TIME-WAIT lasts twice as long, as does the wait for a peer to acknowledge the
 * last bytes. Short, because lwIP searches all control blocks for each new
 * peer, and a guest's network does not delay packets by a minute. */
#define TCP_MSL (NET_LINGER_S * 500UL)

/* Checksums that the host verifies or the device computes are skipped; see
 * kernel/net/device.c. */
#define LWIP_CHECKSUM_CTRL_PER_NETIF 1
#define LWIP_CHKSUM_ALGORITHM 3

/* Counts. */
#define LWIP_STATS 1
#define LWIP_STATS_LARGE 1
#define MEMP_STATS 1
#define MEM_STATS 0
#define LWIP_STATS_DISPLAY 0

#endif
