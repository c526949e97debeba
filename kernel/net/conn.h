/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_CONN_H
#define KERNEL_NET_CONN_H

/*
 * A connection; shared by conn.c and end.c.
 *
 * lwIP must not be called arbitrarily from its own callbacks: a control block
 * that is aborted there must not be used by lwIP afterwards. So callbacks of
 * services only write. All other actions are recorded in the connection and
 * carried out at the end of the turn, from a list of connections with recorded
 * actions (net_conn_touch).
 */

#include "calls.h"
#include "net.h"
#include "peers.h"
#include "trace.h"

#include <lwip/tcp.h>

enum net_conn_state {
    NET_CONN_OPEN,   /* owned by the service */
    NET_CONN_CLOSE,  /* closed by the service; pending */
    NET_CONN_LINGER, /* closed on our side, not on the peer's */
    NET_CONN_ABORT,  /* to be reset */
};

struct net_conn {
    struct tcp_pcb *pcb;
    const struct net_handlers *handlers;
    struct net_address peer;
    struct net_peer_address *address; /* counts the connections of peer.ip */
    void *user;
    struct net_conn *next;  /* in the list of touched connections */
    struct net_conn **link; /* pointer to this one; NULL = not in the list */
    struct pbuf *held;      /* received, not yet delivered */
    struct net_trace_counted counted; /* bytes written to it */
    enum net_conn_state state;
    uint8_t idle_polls; /* while lingering, since the last progress */
    bool paused;
    bool want_room;    /* a write was incomplete */
    bool ended;        /* the peer has closed its side */
    bool end_reported; /* `ended` was called */
};

static inline void net_conn_trace(struct net_conn *conn)
{
    if (!conn->handlers->profiler)
        net_trace(&conn->counted, conn->pcb, conn->state == NET_CONN_OPEN);
}

/* Puts (conn) on the list of touched connections. */
void net_conn_touch(struct net_conn *conn);

/* A connection for (pcb), with the peer at (ip) and (port), in host byte order;
 * NULL: no memory. */
struct net_conn *net_conn_make(struct tcp_pcb *pcb, uint32_t ip, uint16_t port,
                               const struct net_handlers *handlers);

/* Detaches (conn) from lwIP, removes it from the list and frees it. */
void net_conn_free(struct net_conn *conn);

/* ---- end.c */

/* net_room() without requesting `room`. */
size_t net_conn_room(const struct net_conn *conn);

/* The next step of ending (conn), which is no longer open. */
void net_conn_end(struct net_conn *conn);

/* Called by lwIP every second; ERR_ABRT if (conn) was reset. */
err_t net_conn_poll(void *context, struct tcp_pcb *pcb);

#endif
