/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See <kernel/http.h>. Received bytes wait in the client's buffer until the
 * previous response is sent. When the buffer is full the connection is paused.
 */

#include "connection.h"

#include <kernel/clock.h>
#include <prof/transport.h>
#include <stdlib.h>
#include <string.h>

/* ---- connecting and disconnecting */

void http_client_forget(struct http_client *client)
{
    void (*stopped)(void *context) = client->stopped;

    if (stopped != NULL) {
        client->stopped = NULL;
        stopped(client->context);
    }
    *client->link = client->next;
    if (client->next != NULL)
        client->next->link = client->link;
    client->server->counts.clients--;
    free(client->owned);
    free(client);
}

static void end(struct http_client *client)
{
    net_close(client->conn);
    http_client_forget(client);
}

/* A response without a request: the peer has made none yet. */
#define TOO_MANY(why)                                                          \
    "HTTP/1.1 503 Service Unavailable\r\nServer: parasite\r\n"                 \
    "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"     \
    "too many connections" why "\n"

static const char too_many[] = TOO_MANY("");

static bool accept_client(struct net_conn *conn, struct http_server *server)
{
    struct http_client *client;

    if (server->clients_max != 0 &&
        server->counts.clients >= server->clients_max) {
        (void)net_write(conn, too_many, sizeof too_many - 1);
        net_close(conn);
        return true;
    }
    client = calloc(1, sizeof *client);
    if (client == NULL)
        return false;
    client->server = server;
    client->conn = conn;
    client->wait_ns = clock_ns();
    client->next = server->clients;
    client->link = &server->clients;
    if (server->clients != NULL)
        server->clients->link = &client->next;
    server->clients = client;
    server->counts.clients++;
    net_set_user(conn, client);
    return true;
}

/* ---- requests */

static void consume(struct http_client *client, size_t count)
{
    client->in_count -= count;
    memmove(client->in, client->in + count, client->in_count);
}

/* Handles the next request in the buffer. False: none is complete. */
static bool next_request(struct http_client *client)
{
    static struct http_request request; /* 3 KiB, too large for the stack */
    int parsed = http_parse(&request, client->in, client->in_count);

    if (parsed == 0)
        return false;
    client->busy = true;
    client->no_body = request.method == HTTP_HEAD && parsed > 0;
    client->minor = request.minor;
    client->close = parsed < 0 || !request.keep_alive || request.body;
    if (parsed < 0) {
        client->in_count = 0;
        http_refuse(client, (unsigned)-parsed, "");
        return true;
    }
    consume(client, (size_t)parsed);
    if (request.method == HTTP_OTHER ||
        (request.method == HTTP_POST && !client->server->posts))
        http_refuse(client, 405, "Allow: GET, HEAD\r\n");
    else if (request.body && request.method != HTTP_POST)
        http_refuse(client, 413, "");
    else
        client->server->answer(client, &request);
    return true;
}

/* Passes on what has come of the other protocol. False: there is too little, or
 * what was said because of it has to be sent first. */
static bool pass_on(struct http_client *client)
{
    size_t taken;

    if (client->in_count == 0)
        return false;
    taken =
        client->upgrade->receive(client->context, client->in, client->in_count);
    consume(client, taken);
    return taken != 0;
}

static void free_body(struct http_client *client)
{
    free(client->owned);
    client->owned = NULL;
    client->body_count = client->body_sent = 0;
}

/* To be called when the response is sent. False: the client was freed. */
static bool answered(struct http_client *client)
{
    free_body(client);
    client->head_count = client->head_sent = 0;
    client->busy = client->chunked = client->plain = false;
    client->wait_ns = clock_ns();
    if (!client->close)
        return true;
    end(client);
    return false;
}

void http_client_work(struct http_client *client)
{
    if (client->working)
        return;
    client->working = true;
    for (;;) {
        if (client->busy) {
            bool sent = http_response_send(client);

            if (sent && client->upgrade != NULL) {
                free_body(client);
                if (pass_on(client))
                    continue;
                break;
            }
            if (!sent || client->stopped != NULL)
                break;
            if (!answered(client))
                return;
        }
        if (!next_request(client))
            break;
    }
    client->working = false;
    if (client->ended && !client->busy) {
        end(client);
        return;
    }
    if (client->paused && client->in_count < HTTP_HEAD_MAX) {
        client->paused = false;
        net_resume(client->conn);
    }
}

/* Below HTTP_HEAD_MAX there is room for another piece; beyond it the connection
 * is paused. So a head of the maximum length is always refused. */
static void receive_bytes(struct http_client *client, const void *bytes,
                          size_t count)
{
    if (!client->busy && client->in_count == 0)
        client->wait_ns = clock_ns();
    memcpy(client->in + client->in_count, bytes, count);
    client->in_count += count;
    if (client->in_count >= HTTP_HEAD_MAX) {
        client->paused = true;
        net_pause(client->conn);
    }
    http_client_work(client);
}

/* The peer has closed its side but may still be reading. Responses that may
 * take long are aborted, because the peer has most likely gone away. */
static void end_of_input(struct http_client *client)
{
    client->ended = true;
    if (!client->busy || (client->stopped != NULL && !client->soon))
        end(client);
}

/* ---- handlers of the network
 *
 * What the server of the profiler does is work of the profiler's: its events
 * pass through a function of it, so that samples show whose they are.
 */

struct event {
    enum { ACCEPT, RECEIVE, ENDED, ROOM, GONE } kind;
    struct http_server *server;
    struct http_client *client;
    struct net_conn *conn;
    const void *bytes;
    size_t count;
    bool accepted;
};

static void handle(void *context)
{
    struct event *event = context;

    switch (event->kind) {
    case ACCEPT:
        event->accepted = accept_client(event->conn, event->server);
        break;
    case RECEIVE:
        receive_bytes(event->client, event->bytes, event->count);
        break;
    case ENDED:
        end_of_input(event->client);
        break;
    case ROOM: /* the peer reads */
        event->client->refused_ns = 0;
        http_client_work(event->client);
        break;
    case GONE:
        http_client_forget(event->client);
        break;
    }
}

static void raise(struct event *event)
{
    if (event->server->profiler)
        prof_transport_work(handle, event);
    else
        handle(event);
}

static struct event event_of(int kind, struct net_conn *conn)
{
    struct http_client *client = net_user(conn);

    return (struct event){
        .kind = kind, .server = client->server, .client = client};
}

static bool on_accept(struct net_conn *conn, void *context)
{
    struct event event = {.kind = ACCEPT, .conn = conn, .server = context};

    raise(&event);
    return event.accepted;
}

static void on_receive(struct net_conn *conn, const void *bytes, size_t count)
{
    struct event event = event_of(RECEIVE, conn);

    event.bytes = bytes;
    event.count = count;
    raise(&event);
}

static void on_ended(struct net_conn *conn)
{
    struct event event = event_of(ENDED, conn);

    raise(&event);
}

static void on_room(struct net_conn *conn)
{
    struct event event = event_of(ROOM, conn);

    raise(&event);
}

static void on_gone(struct net_conn *conn, enum net_reason reason)
{
    struct event event = event_of(GONE, conn);

    (void)reason;
    raise(&event);
}

int http_listen(struct http_server *server, uint16_t port)
{
    int error;

    server->handlers = (struct net_handlers){
        .accept = on_accept,
        .receive = on_receive,
        .ended = on_ended,
        .room = on_room,
        .gone = on_gone,
        .refusal = TOO_MANY(" from your address"),
        .profiler = server->profiler,
        .sites = server->sites,
    };
    error = net_listen(port, &server->handlers, server);
    if (error == 0)
        http_deadline_start(server);
    return error;
}
