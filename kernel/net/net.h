/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_NET_H
#define KERNEL_NET_NET_H

/*
 * What the files of this folder know of each other.
 *
 *     start.c   finds the device, starts the stack, tells its address
 *     device.c  frames from the device to lwIP and back, in turns of the loop
 *     link.c    frames from here to the device, and the bell
 *     conn.c    connections, as <kernel/net.h> promises them
 *     end.c     what goes out on them, and how they end
 *     options.c net.ip and net.kick
 *     port.c    the system below lwIP
 *     stats.c   counts
 *
 * Contexts: thread, everywhere.
 */

#include <kernel/net.h>
#include <kernel/net_link.h>

/* ---- port.c */

uint32_t net_port_pieces(void);   /* of the heap, that lwIP and we hold */
uint32_t net_port_refusals(void); /* of the heap */
void *net_port_alloc_zeroed(size_t count, size_t bytes);
void net_port_free(void *piece);

/* ---- options.c */

struct net_settings {
    bool dhcp;
    uint32_t ip, mask, gateway; /* where dhcp is not; gateway 0 = none */
    bool each;                  /* net.kick=each */
};
extern struct net_settings net_settings;

/* ---- device.c */

struct net_device_counts {
    uint64_t in, dropped_in;
};
extern struct net_device_counts net_device_counts;

/* Puts the device under lwIP, and both on the event loop. */
void net_device_start(void);

/* Address of the device, 0 = none yet. */
uint32_t net_device_ip(void);

/* ---- link.c */

struct net_link_counts {
    uint64_t out, dropped_out;
};
extern struct net_link_counts net_link_counts;

/* Sends a frame by the link in force. */
bool net_link_transmit(const struct net_part *parts, unsigned count);

/* The loop's turn ends. */
void net_link_flush(void);

/* ---- conn.c */

/* Work that callbacks have left for the end of the turn. */
void net_conn_turn(void);

/* Whether there is some already for the next. */
bool net_conn_waiting(void);

/* Connections of services; closed by them, but not yet done with; accepted. */
struct net_conn_counts {
    uint32_t open, closing;
    uint64_t accepted;
};
extern struct net_conn_counts net_conn_counts;

#endif
