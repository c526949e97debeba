/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_CALLS_H
#define KERNEL_NET_CALLS_H

/* Calls (handlers) of a service, each in the time of its own site. One that is
 * missing does nothing. The service may close or abort (conn), which exists
 * until they return. Contexts: thread. */

#include <kernel/net.h>

/* Whether the connection is accepted. */
bool net_call_accept(const struct net_handlers *handlers, struct net_conn *conn,
                     void *context);
void net_call_receive(const struct net_handlers *handlers,
                      struct net_conn *conn, const void *bytes, size_t count);
void net_call_ended(const struct net_handlers *handlers, struct net_conn *conn);
void net_call_room(const struct net_handlers *handlers, struct net_conn *conn);
void net_call_gone(const struct net_handlers *handlers, struct net_conn *conn,
                   enum net_reason reason);

#endif
