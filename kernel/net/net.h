/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_NET_H
#define KERNEL_NET_NET_H

/*
 * Interfaces between the files of this folder.
 *
 *     start.c   finds the device, starts the stack, formats addresses
 *     device.c  frames from the device to lwIP and back, in turns of the loop
 *     link.c    frames to the device, and its notification
 *     conn.c    connections (<kernel/net.h>): accepting and receiving
 *     calls.c   connections: handlers of services
 *     end.c     connections: writing and closing
 *     connect.c connections to others, datagrams
 *     peers.c   how many connections each address has
 *     options.c net.ip, net.kick, net.per_address, net.counters and net.peer
 *     model.c   frames that are held in causal experiments, see
 *     agents.c  when they are due; flow.c and rules.c are parts of that
 *     port.c    the system below lwIP
 *     stats.c   counts
 *
 * Contexts: thread, everywhere.
 */

#include <kernel/net.h>
#include <kernel/net_link.h>

/* ---- port.c */

uint32_t net_port_pieces(void);   /* of the heap, in use by the network */
uint32_t net_port_refusals(void); /* failed allocations */
void *net_port_alloc(size_t bytes);
void *net_port_alloc_zeroed(size_t count, size_t bytes);
void net_port_free(void *piece);

/* ---- options.c */

struct net_settings {
    bool dhcp;
    uint32_t ip, mask, gateway; /* without dhcp; gateway 0 = none */
    bool each;                  /* net.kick=each */
    bool all_counters;          /* net.counters=all */
    uint32_t per_address;       /* connections that one address may have */
};
extern struct net_settings net_settings;

/* ---- device.c */

struct net_device_counts {
    uint64_t in, dropped_in;
};
extern struct net_device_counts net_device_counts;

/* Connects the device to lwIP and both to the event loop. */
void net_device_start(void);

/* Address of the device, 0 = not assigned yet. */
uint32_t net_device_ip(void);

/* ---- link.c */

struct net_link_counts {
    uint64_t out, dropped_out;
};
extern struct net_link_counts net_link_counts;

/* Sends a frame by the current link. */
bool net_link_transmit(const struct net_part *parts, unsigned count);

/* Called at the end of the loop's turn. */
void net_link_flush(void);

/* Waits until the device has sent all frames, for up to 5 s. */
void net_link_wait(void);

/* ---- conn.c */

/* The port of connections whose work is the profiler's; 0: there is none. */
extern uint16_t net_profiler_port;

/* Calls (work) as work of the profiler's: it is in no share, nor are the frames
 * that it sends in a trace. */
void net_profiler_work(void (*work)(void *context), void *context);

/* Passes what was written to (conn) to the device, as far as its peer has room
 * for it; (*left) bytes are not acknowledged yet. False: (conn) has ended. */
bool net_conn_output(const struct net_conn *conn, uint32_t *left);

/* Carries out actions recorded by callbacks, at the end of the turn. */
void net_conn_turn(void);

/* Whether there are more for the next turn. */
bool net_conn_waiting(void);

/* Connections open; closed by services, but not yet ended; accepted; refused
 * because their address had too many. */
struct net_conn_counts {
    uint32_t open, closing;
    uint64_t accepted, refused;
};
extern struct net_conn_counts net_conn_counts;

#endif
