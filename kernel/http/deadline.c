/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that take too long. Each byte that one sends must not extend its
 * time, or a client could hold a connection for ever with a byte now and then;
 * nor must each byte that one reads.
 */

#include "connection.h"

#include <kernel/clock.h>
#include <kernel/loop.h>
#include <prof/transport.h>

#define SWEEP_NS NS_PER_S
#define SLOWEST_BYTES 1024u /* of a response, each second */

static bool older(uint64_t since_ns, uint64_t now_ns, uint64_t seconds)
{
    return now_ns - since_ns >= seconds * NS_PER_S;
}

/* A response is not read at all, or too slowly on average. */
static bool reads_too_slowly(const struct http_client *client, uint64_t now_ns)
{
    return older(client->active_ns, now_ns, client->server->limits.idle_s) ||
           older(client->begun_ns, now_ns,
                 client->server->limits.idle_s + client->sent / SLOWEST_BYTES);
}

static void disconnect(struct http_client *client)
{
    client->server->counts.timed_out++;
    if (client->busy)
        net_abort(client->conn);
    else
        net_close(client->conn);
    http_client_forget(client);
}

/* A part of a request has come, but not its end. */
static void refuse_late(struct http_client *client)
{
    client->server->counts.timed_out++;
    client->busy = client->close = true;
    client->in_count = 0;
    client->no_body = false;
    http_refuse(client, 408, "");
}

/* The peer of another protocol, or of a response in pieces, does not read what
 * there is for it; or it has got a piece that is not whole; or its response
 * is not prepared in time. */
static bool is_stuck(const struct http_client *client, uint64_t now_ns)
{
    const uint32_t idle_s = client->server->limits.idle_s;

    return client->broken ||
           (client->refused_ns != 0 &&
            older(client->refused_ns, now_ns, idle_s)) ||
           ((client->soon || client->body_sent != client->body_count) &&
            older(client->active_ns, now_ns, idle_s));
}

/* A response that is produced elsewhere has its own deadline. */
static void check(struct http_client *client, uint64_t now_ns)
{
    const struct http_limits *limits = &client->server->limits;

    if (client->stopped != NULL) {
        if (is_stuck(client, now_ns))
            disconnect(client);
    } else if (client->busy) {
        if (reads_too_slowly(client, now_ns))
            disconnect(client);
    } else if (client->in_count != 0) {
        if (older(client->wait_ns, now_ns, limits->head_s))
            refuse_late(client);
    } else if (older(client->wait_ns, now_ns, limits->idle_s)) {
        disconnect(client);
    }
}

static void check_all(void *context)
{
    struct http_server *server = context;
    uint64_t now_ns = clock_ns();
    struct http_client *next;

    for (struct http_client *each = server->clients; each != NULL;
         each = next) {
        next = each->next;
        check(each, now_ns);
    }
}

static void sweep(void *context)
{
    const struct http_server *server = context;

    if (server->profiler)
        prof_transport_work(check_all, context);
    else
        check_all(context);
}

void http_deadline_start(struct http_server *server)
{
    server->sweep.own = server->profiler;
    loop_every(&server->sweep, SWEEP_NS, sweep, server);
}
