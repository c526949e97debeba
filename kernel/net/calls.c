/* SPDX-License-Identifier: Apache-2.0 */

/* Handlers of services, and whose time they are (<prof/loop.h>). */

#include "calls.h"

#include <prof/loop.h>

/* The site of (handler), NULL: the network's. */
#define SITE_OF(handlers, handler)                                             \
    ((handlers)->sites != NULL ? &(handlers)->sites->handler : NULL)

static void begin_site(struct prof_loop_frame *frame,
                       struct prof_trace_name *site)
{
    frame->node = NULL;
    if (site != NULL)
        prof_loop_begin(frame, site);
}

bool net_call_accept(const struct net_handlers *handlers, struct net_conn *conn,
                     void *context)
{
    struct prof_loop_frame frame;
    bool accepted;

    if (handlers->accept == NULL)
        return true;
    begin_site(&frame, SITE_OF(handlers, accept));
    accepted = handlers->accept(conn, context);
    prof_loop_leave(&frame);
    return accepted;
}

void net_call_receive(const struct net_handlers *handlers,
                      struct net_conn *conn, const void *bytes, size_t count)
{
    struct prof_loop_frame frame;

    if (handlers->receive == NULL)
        return;
    begin_site(&frame, SITE_OF(handlers, receive));
    handlers->receive(conn, bytes, count);
    prof_loop_leave(&frame);
}

void net_call_ended(const struct net_handlers *handlers, struct net_conn *conn)
{
    struct prof_loop_frame frame;

    if (handlers->ended == NULL)
        return;
    begin_site(&frame, SITE_OF(handlers, ended));
    handlers->ended(conn);
    prof_loop_leave(&frame);
}

void net_call_room(const struct net_handlers *handlers, struct net_conn *conn)
{
    struct prof_loop_frame frame;

    if (handlers->room == NULL)
        return;
    begin_site(&frame, SITE_OF(handlers, room));
    handlers->room(conn);
    prof_loop_leave(&frame);
}

void net_call_gone(const struct net_handlers *handlers, struct net_conn *conn,
                   enum net_reason reason)
{
    struct prof_loop_frame frame;

    if (handlers->gone == NULL)
        return;
    begin_site(&frame, SITE_OF(handlers, gone));
    handlers->gone(conn, reason);
    prof_loop_leave(&frame);
}
