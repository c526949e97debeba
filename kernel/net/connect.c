/* SPDX-License-Identifier: Apache-2.0 */
/* What begins here: connections to others, and datagrams. */

#include "conn.h"

#include <lwip/udp.h>

static ip_addr_t ip_of(const struct net_address *address)
{
    const ip_addr_t ip = IPADDR4_INIT(lwip_htonl(address->ip));

    return ip;
}

static err_t on_connected(void *context, struct tcp_pcb *pcb, err_t error)
{
    struct net_conn *conn = context;

    (void)error; /* always ERR_OK: failures go to the error callback */
    net_trace_begin(&conn->counted, pcb);
    if (conn->state != NET_CONN_OPEN ||
        net_call_accept(conn->handlers, conn, conn->user))
        return ERR_OK;
    net_conn_free(conn);
    tcp_abort(pcb);
    return ERR_ABRT;
}

struct net_conn *net_connect(const struct net_address *address,
                             const struct net_handlers *handlers, void *user)
{
    const ip_addr_t ip = ip_of(address);
    struct tcp_pcb *pcb = tcp_new();
    struct net_conn *conn = NULL;

    if (pcb == NULL)
        return NULL;
    conn = net_conn_make(pcb, address->ip, address->port, handlers);
    if (conn != NULL) {
        conn->user = user;
        if (tcp_connect(pcb, &ip, address->port, on_connected) == ERR_OK)
            return conn;
        net_conn_free(conn);
    }
    tcp_abort(pcb);
    return NULL;
}

bool net_send_datagram(const struct net_address *address, const void *bytes,
                       size_t count)
{
    static struct udp_pcb *pcb;
    const ip_addr_t ip = ip_of(address);
    struct pbuf *copy;
    bool sent;

    if (pcb == NULL)
        pcb = udp_new();
    if (pcb == NULL || count > NET_DATAGRAM_MAX)
        return false;
    copy = pbuf_alloc(PBUF_TRANSPORT, (u16_t)count, PBUF_RAM);
    if (copy == NULL)
        return false;
    sent = pbuf_take(copy, bytes, (u16_t)count) == ERR_OK &&
           udp_sendto(pcb, copy, &ip, address->port) == ERR_OK;
    pbuf_free(copy);
    return sent;
}
