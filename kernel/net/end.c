/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes out on a connection, and how it ends.
 *
 * The service has closed it: our side is ended by a FIN behind all that was
 * written, and then we linger, throwing away what comes, until the peer has
 * ended its side too. lwIP would do without the lingering, but it answers
 * bytes that come after a close by a reset, and a reset makes the peer forget
 * what it has not read yet: the last words of most conversations.
 */

#include "conn.h"

/* ---- writing */

/* Where many small pieces are queued, it is their number that is short. */
size_t net_conn_room(const struct net_conn *conn)
{
    if (tcp_sndqueuelen(conn->pcb) >= TCP_SND_QUEUELEN - TCP_SND_BUF / TCP_MSS)
        return 0;
    return tcp_sndbuf(conn->pcb);
}

size_t net_room(struct net_conn *conn)
{
    size_t room = net_conn_room(conn);

    if (room < NET_ROOM_WORTH)
        conn->want_room = true;
    return room;
}

/* Less and less is tried where memory is short. */
size_t net_write(struct net_conn *conn, const void *bytes, size_t count)
{
    size_t room = net_conn_room(conn);
    size_t taken = count < room ? count : room;

    while (taken != 0 && tcp_write(conn->pcb, bytes, (u16_t)taken,
                                   TCP_WRITE_FLAG_COPY) != ERR_OK)
        taken /= 2;
    if (taken < count)
        conn->want_room = true;
    if (taken != 0)
        net_conn_touch(conn);
    return taken;
}

/* ---- ending */

static void leave(struct net_conn *conn, enum net_conn_state state)
{
    net_conn_counts.open--;
    net_conn_counts.closing++;
    conn->state = state;
    net_conn_touch(conn);
}

void net_close(struct net_conn *conn)
{
    leave(conn, NET_CONN_CLOSE);
}

void net_abort(struct net_conn *conn)
{
    leave(conn, NET_CONN_ABORT);
}

static void reset(struct net_conn *conn)
{
    struct tcp_pcb *pcb = conn->pcb;

    net_conn_free(conn);
    tcp_abort(pcb);
}

/* What was not read is taken, or lwIP would send a reset for it. */
static void forget_held(struct net_conn *conn)
{
    if (conn->held == NULL)
        return;
    tcp_recved(conn->pcb, conn->held->tot_len);
    pbuf_free(conn->held);
    conn->held = NULL;
}

/*
 * Our side only, even where the peer's is ended already: a connection that was
 * closed as a whole lwIP ends by the clock, whatever is still on its way. What
 * lwIP has no memory for it does by itself, later. Any other state than an open
 * one has been ended before.
 */
static void close_ours(struct net_conn *conn)
{
    forget_held(conn);
    conn->state = NET_CONN_LINGER;
    if (tcp_shutdown(conn->pcb, 0, 1) != ERR_OK)
        reset(conn);
}

void net_conn_end(struct net_conn *conn)
{
    switch (conn->state) {
    case NET_CONN_CLOSE:
        close_ours(conn);
        break;
    case NET_CONN_ABORT:
        reset(conn);
        break;
    case NET_CONN_OPEN:
    case NET_CONN_LINGER: /* the peer's turn */
        break;
    }
}

err_t net_conn_poll(void *context, struct tcp_pcb *pcb)
{
    struct net_conn *conn = context;

    (void)pcb;
    net_conn_touch(conn);
    if (++conn->idle_polls == NET_LINGER_S)
        conn->state = NET_CONN_ABORT;
    return ERR_OK;
}
