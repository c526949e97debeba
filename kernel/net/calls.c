/* SPDX-License-Identifier: Apache-2.0 */

/* Handlers of services, and whose time they are (<prof/loop.h>). */

#include "conn.h"

#include <prof/loop.h>

/* The site of (handler), NULL: the network's. */
#define SITE_OF(conn, handler)                                                 \
    ((conn)->handlers->sites != NULL ? &(conn)->handlers->sites->handler : NULL)

static void begin(struct prof_loop_frame *frame, struct prof_trace_name *site)
{
    frame->node = NULL;
    if (site != NULL)
        prof_loop_begin(frame, site);
}

bool net_call_accept(struct net_conn *conn, void *context)
{
    struct prof_loop_frame frame;
    bool accepted;

    if (conn->handlers->accept == NULL)
        return true;
    begin(&frame, SITE_OF(conn, accept));
    accepted = conn->handlers->accept(conn, context);
    prof_loop_leave(&frame);
    return accepted;
}

void net_call_receive(struct net_conn *conn, const void *bytes, size_t count)
{
    struct prof_loop_frame frame;

    if (conn->handlers->receive == NULL)
        return;
    begin(&frame, SITE_OF(conn, receive));
    conn->handlers->receive(conn, bytes, count);
    prof_loop_leave(&frame);
}

void net_call_ended(struct net_conn *conn)
{
    struct prof_loop_frame frame;

    if (conn->handlers->ended == NULL)
        return;
    begin(&frame, SITE_OF(conn, ended));
    conn->handlers->ended(conn);
    prof_loop_leave(&frame);
}

void net_call_room(struct net_conn *conn)
{
    struct prof_loop_frame frame;

    if (conn->handlers->room == NULL)
        return;
    begin(&frame, SITE_OF(conn, room));
    conn->handlers->room(conn);
    prof_loop_leave(&frame);
}

void net_call_gone(struct net_conn *conn, enum net_reason reason)
{
    struct prof_loop_frame frame;

    if (conn->handlers->gone == NULL)
        return;
    begin(&frame, SITE_OF(conn, gone));
    conn->handlers->gone(conn, reason);
    prof_loop_leave(&frame);
}
