/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: translates lwIP's callbacks into those of services. See conn.h
 * for what callbacks may do.
 */

#include "conn.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <lwip/priv/tcp_priv.h>
#include <prof/transport.h>
#include <string.h>

#define POLL_HALF_SECONDS 2
#define MESSAGE_NS (10 * NS_PER_S) /* between messages about refused peers */

struct listener {
    const struct net_handlers *handlers;
    void *context;
};

struct net_conn_counts net_conn_counts;
uint16_t net_profiler_port;

static struct net_conn *touched;

void net_conn_touch(struct net_conn *conn)
{
    if (conn->link != NULL)
        return;
    conn->next = touched;
    conn->link = &touched;
    if (touched != NULL)
        touched->link = &conn->next;
    touched = conn;
}

static void untouch(struct net_conn *conn)
{
    if (conn->link == NULL)
        return;
    *conn->link = conn->next;
    if (conn->next != NULL)
        conn->next->link = conn->link;
    conn->link = NULL;
}

void net_conn_free(struct net_conn *conn)
{
    if (conn->pcb != NULL) {
        tcp_arg(conn->pcb, NULL);
        tcp_recv(conn->pcb, NULL);
        tcp_sent(conn->pcb, NULL);
        tcp_err(conn->pcb, NULL);
        tcp_poll(conn->pcb, NULL, 0);
    }
    untouch(conn);
    if (conn->held != NULL)
        pbuf_free(conn->held);
    if (conn->state == NET_CONN_OPEN)
        net_conn_counts.open--;
    else
        net_conn_counts.closing--;
    net_peer_end(conn->address);
    net_port_free(conn);
}

/* ---- receiving */

/*
 * Passes held data to the service, piece by piece, until it closes or pauses
 * the connection. A piece is unlinked before the callback, which may resume the
 * connection, so that the rest is delivered elsewhere.
 */
static void deliver(struct net_conn *conn)
{
    while (conn->state == NET_CONN_OPEN && !conn->paused &&
           conn->held != NULL) {
        struct pbuf *piece = conn->held;

        conn->held = piece->next;
        piece->next = NULL;
        piece->tot_len = piece->len;
        tcp_recved(conn->pcb, piece->len);
        if (piece->len != 0)
            net_call_receive(conn->handlers, conn, piece->payload, piece->len);
        pbuf_free(piece);
    }
    if (conn->state != NET_CONN_OPEN || conn->paused || conn->held != NULL ||
        !conn->ended || conn->end_reported)
        return;
    conn->end_reported = true;
    if (conn->handlers->ended != NULL)
        net_call_ended(conn->handlers, conn);
    else
        net_close(conn);
}

static err_t on_receive(void *context, struct tcp_pcb *pcb, struct pbuf *bytes,
                        err_t error)
{
    struct net_conn *conn = context;

    (void)error;
    if (bytes == NULL && conn->state == NET_CONN_LINGER) {
        net_conn_free(conn);
        return tcp_close(pcb);
    }
    if (bytes == NULL) {
        conn->ended = true;
    } else if (conn->state != NET_CONN_OPEN) {
        tcp_recved(pcb, bytes->tot_len);
        pbuf_free(bytes);
        return ERR_OK;
    } else if (conn->held == NULL) {
        conn->held = bytes;
    } else {
        pbuf_cat(conn->held, bytes);
    }
    deliver(conn);
    return ERR_OK;
}

/* ---- room to write */

static void offer_room(struct net_conn *conn)
{
    if (conn->state != NET_CONN_OPEN || !conn->want_room)
        return;
    conn->want_room = false;
    net_call_room(conn->handlers, conn);
}

static err_t on_sent(void *context, struct tcp_pcb *pcb, u16_t bytes)
{
    struct net_conn *conn = context;

    (void)pcb;
    (void)bytes;
    conn->idle_polls = 0;
    net_conn_trace(conn);
    if (net_conn_room(conn) >= NET_ROOM_WORTH)
        offer_room(conn);
    return ERR_OK;
}

/* Retries after a shortage of memory, and continues closing. */
static err_t on_poll(void *context, struct tcp_pcb *pcb)
{
    struct net_conn *conn = context;

    if (conn->state != NET_CONN_OPEN)
        return net_conn_poll(context, pcb);
    if (conn->want_room && net_conn_room(conn) >= NET_ROOM_WORTH)
        offer_room(conn);
    return ERR_OK;
}

/* ---- beginning and end */

/* Called by lwIP after it has freed the control block. */
static void on_error(void *context, err_t error)
{
    struct net_conn *conn = context;
    enum net_reason reason = error == ERR_ABRT ? NET_TIMEOUT : NET_RESET;

    conn->pcb = NULL;
    if (conn->state == NET_CONN_OPEN)
        net_call_gone(conn->handlers, conn, reason);
    net_conn_free(conn);
}

struct net_conn *net_conn_make(struct tcp_pcb *pcb, uint32_t ip, uint16_t port,
                               const struct net_handlers *handlers)
{
    struct net_conn *conn = net_port_alloc_zeroed(1, sizeof *conn);

    if (conn == NULL)
        return NULL;
    conn->address = net_peer_begin(ip);
    if (conn->address == NULL) {
        net_port_free(conn);
        return NULL;
    }
    conn->pcb = pcb;
    conn->handlers = handlers;
    net_trace_begin(&conn->counted, pcb);
    conn->peer = (struct net_address){ip, port};
    net_conn_counts.open++;
    tcp_arg(pcb, conn);
    tcp_recv(pcb, on_receive);
    tcp_sent(pcb, on_sent);
    tcp_err(pcb, on_error);
    tcp_poll(pcb, on_poll, POLL_HALF_SECONDS);
    tcp_nagle_disable(pcb); /* writes are collected until the end of the turn */
    ip_set_option(pcb, SOF_KEEPALIVE);
    return conn;
}

/*
 * Too many connections of one address: a few get a message, which takes as long
 * as closing does, and all others are reset.
 */
static err_t refuse(struct net_conn *conn)
{
    static uint64_t next_message_ns;
    const char *text = conn->handlers->refusal;
    const uint32_t ip = conn->peer.ip;

    net_conn_counts.refused++;
    if (clock_ns() >= next_message_ns) {
        next_message_ns = clock_ns() + MESSAGE_NS;
        console_line("net: %u.%u.%u.%u refused: more than %u connections from "
                     "one address (net.per_address)",
                     (unsigned)(ip >> 24), (unsigned)(ip >> 16 & 255),
                     (unsigned)(ip >> 8 & 255), (unsigned)(ip & 255),
                     (unsigned)net_settings.per_address);
    }
    if (text != NULL &&
        conn->address->connections <= net_settings.per_address + NET_REFUSALS) {
        (void)net_write(conn, text, strlen(text));
        net_close(conn);
        return ERR_OK;
    }
    struct tcp_pcb *pcb = conn->pcb;

    net_conn_free(conn);
    tcp_abort(pcb);
    return ERR_ABRT;
}

static err_t on_accept(void *context, struct tcp_pcb *pcb, err_t error)
{
    const struct listener *listener = context;
    const struct net_handlers *handlers = listener->handlers;
    struct net_conn *conn;

    if (pcb == NULL || error != ERR_OK)
        return ERR_VAL;
    conn = net_conn_make(
        pcb, lwip_ntohl(ip4_addr_get_u32(ip_2_ip4(&pcb->remote_ip))),
        pcb->remote_port, handlers);
    if (conn == NULL)
        return ERR_MEM;
    if (conn->address->connections > net_settings.per_address)
        return refuse(conn);
    net_conn_counts.accepted++;
    if (net_call_accept(conn->handlers, conn, listener->context))
        return ERR_OK;
    net_conn_free(conn);
    tcp_abort(pcb);
    return ERR_ABRT;
}

int net_listen(uint16_t port, const struct net_handlers *handlers,
               void *context)
{
    struct listener *listener = net_port_alloc_zeroed(1, sizeof *listener);
    struct tcp_pcb *pcb = tcp_new();
    struct tcp_pcb *listening = NULL;
    int error = NET_EMEMORY;

    if (listener != NULL && pcb != NULL) {
        *listener = (struct listener){handlers, context};
        if (tcp_bind(pcb, IP_ANY_TYPE, port) == ERR_OK)
            listening = tcp_listen_with_backlog(pcb, NET_BACKLOG);
        else
            error = NET_EPORT;
    }
    if (listening == NULL) {
        net_port_free(listener);
        if (pcb != NULL)
            tcp_abort(pcb);
        return error;
    }
    if (handlers->profiler)
        net_profiler_port = port;
    tcp_arg(listening, listener);
    tcp_accept(listening, on_accept);
    return 0;
}

/* ---- the end of a turn */

void net_profiler_work(void (*work)(void *context), void *context)
{
    trace_hides++;
    prof_transport_work(work, context);
    trace_hides--;
}

static void output(void *context)
{
    struct net_conn *conn = context;

    (void)tcp_output(conn->pcb);
    net_conn_trace(conn);
    deliver(conn);
}

/* All that the peer's window has room for: the image ends, and what congestion
 * might lose would be lost anyway. */
bool net_conn_output(const struct net_conn *conn, uint32_t *left)
{
    struct tcp_pcb *pcb = tcp_active_pcbs;

    while (pcb != NULL && pcb->callback_arg != conn)
        pcb = pcb->next;
    *left = 0;
    if (pcb == NULL)
        return false;
    if (pcb->cwnd < pcb->snd_wnd)
        pcb->cwnd = pcb->snd_wnd;
    (void)tcp_output(pcb);
    *left = pcb->snd_lbb - pcb->lastack;
    return true;
}

/*
 * Handles the list as it is now. Connections touched meanwhile wait for the
 * next turn, so that services that trigger each other cannot block the loop.
 */
void net_conn_turn(void)
{
    struct net_conn *now = touched;

    touched = NULL;
    if (now != NULL)
        now->link = &now;
    while (now != NULL) {
        struct net_conn *conn = now;

        untouch(conn);
        if (conn->state != NET_CONN_OPEN) {
            net_conn_end(conn);
            continue;
        }
        if (conn->handlers->profiler)
            net_profiler_work(output, conn);
        else
            output(conn);
    }
}

bool net_conn_waiting(void)
{
    return touched != NULL;
}

/* ---- small calls */

void net_set_user(struct net_conn *conn, void *user)
{
    conn->user = user;
}

void *net_user(const struct net_conn *conn)
{
    return conn->user;
}

struct net_address net_peer(const struct net_conn *conn)
{
    return conn->peer;
}

void net_pause(struct net_conn *conn)
{
    conn->paused = true;
}

void net_resume(struct net_conn *conn)
{
    conn->paused = false;
    net_conn_touch(conn);
}
