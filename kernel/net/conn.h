/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_CONN_H
#define KERNEL_NET_CONN_H

/*
 * A connection, as conn.c and end.c share it.
 *
 * lwIP may be called from its own callbacks, but not for everything: a control
 * block that is aborted there must not be looked at any more by whoever called
 * back. So callbacks of services do nothing to lwIP but write; everything else
 * is noted, and done at the end of the turn from a list of those connections
 * that have something noted (net_conn_touch).
 */

#include "net.h"

#include <lwip/tcp.h>

enum net_conn_state {
    NET_CONN_OPEN,   /* the service's */
    NET_CONN_CLOSE,  /* it has closed it; to be done */
    NET_CONN_LINGER, /* our side is ended, the peer's is not */
    NET_CONN_ABORT,  /* to be reset */
};

struct net_conn {
    struct tcp_pcb *pcb;
    const struct net_handlers *handlers;
    struct net_address peer;
    void *user;
    struct net_conn *next;  /* in the list of those touched */
    struct net_conn **link; /* what points here; NULL = not in the list */
    struct pbuf *held;      /* came while it was paused, or before that */
    enum net_conn_state state;
    uint8_t idle_polls; /* while lingering, since something last moved */
    bool paused;
    bool want_room; /* a write was cut short */
    bool ended;     /* the peer sends no more */
    bool told;      /* and the service was told so */
};

/* Puts (conn) on the list, if it is not there. */
void net_conn_touch(struct net_conn *conn);

/* Takes (conn) off lwIP, off the list and out of memory. */
void net_conn_free(struct net_conn *conn);

/* ---- end.c */

/* net_room() without asking for `room`. */
size_t net_conn_room(const struct net_conn *conn);

/* The next step of ending (conn), which is not open any more. */
void net_conn_end(struct net_conn *conn);

/* lwIP asks every second; ERR_ABRT where (conn) was reset. */
err_t net_conn_poll(void *context, struct tcp_pcb *pcb);

#endif
