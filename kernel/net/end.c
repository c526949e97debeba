/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing to a connection and ending it.
 *
 * When the service closes a connection, a FIN is sent after all pending data.
 * The connection then lingers, discarding received data, until the peer closes
 * its side too. Without that lwIP would answer data received after the close by
 * a reset, and a reset makes the peer lose the data that it has not read yet.
 */

#include "conn.h"

/* ---- writing */

/* With many small pieces, the number of queue entries is the limit. */
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

/* If memory is short, tries smaller pieces. */
size_t net_write(struct net_conn *conn, const void *bytes, size_t count)
{
    size_t room = net_conn_room(conn);
    size_t taken = count < room ? count : room;

    while (taken != 0 && tcp_write(conn->pcb, bytes, (u16_t)taken,
                                   TCP_WRITE_FLAG_COPY) != ERR_OK)
        taken /= 2;
    if (taken < count)
        conn->want_room = true;
    if (taken != 0) {
        net_conn_touch(conn);
        net_conn_trace(conn);
    }
    return taken;
}

/* ---- ending */

static void leave_state(struct net_conn *conn, enum net_conn_state state)
{
    net_conn_counts.open--;
    net_conn_counts.closing++;
    conn->state = state;
    net_conn_touch(conn);
}

void net_close(struct net_conn *conn)
{
    leave_state(conn, NET_CONN_CLOSE);
}

void net_abort(struct net_conn *conn)
{
    leave_state(conn, NET_CONN_ABORT);
}

static void reset(struct net_conn *conn)
{
    struct tcp_pcb *pcb = conn->pcb;

    net_conn_free(conn);
    tcp_abort(pcb);
}

/* Marks unread data as read, or lwIP would send a reset for them. */
static void forget_held(struct net_conn *conn)
{
    if (conn->held == NULL)
        return;
    tcp_recved(conn->pcb, conn->held->tot_len);
    pbuf_free(conn->held);
    conn->held = NULL;
}

/*
 * Closes our side only, even if the peer has closed its own: lwIP ends a fully
 * closed connection after a timeout, even with data in flight. If lwIP has no
 * memory for the FIN, it sends it later by itself. An error means that the
 * connection is not open.
 */
static void close_ours(struct net_conn *conn)
{
    forget_held(conn);
    conn->state = NET_CONN_LINGER;
    if (tcp_shutdown(conn->pcb, 0, 1) != ERR_OK)
        reset(conn);
    else
        net_conn_trace(conn);
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
    case NET_CONN_LINGER: /* waits for the peer */
        break;
    }
}

err_t net_conn_poll(void *context, struct tcp_pcb *pcb)
{
    struct net_conn *conn = context;

    net_conn_touch(conn);
    if (pcb->nrtx != 0 && pcb->nrtx <= NET_LINGER_RETRIES)
        return ERR_OK;
    if (++conn->idle_polls == NET_LINGER_S)
        conn->state = NET_CONN_ABORT;
    return ERR_OK;
}
