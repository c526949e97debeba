/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See client.h. Received bytes wait in the client's buffer until the previous
 * response is sent. When the buffer is full the connection is paused.
 */

#include "connection.h"

#include <kernel/clock.h>
#include <stdlib.h>
#include <string.h>

struct http_counts http_counts;
struct http_client *http_clients;

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
    http_counts.clients--;
    free(client->owned);
    free(client);
}

static void end(struct http_client *client)
{
    net_close(client->conn);
    http_client_forget(client);
}

static void on_gone(struct net_conn *conn, enum net_reason reason)
{
    (void)reason;
    http_client_forget(net_user(conn));
}

static bool on_accept(struct net_conn *conn, void *unused)
{
    struct http_client *client = calloc(1, sizeof *client);

    (void)unused;
    if (client == NULL)
        return false;
    client->conn = conn;
    client->wait_ns = clock_ns();
    client->next = http_clients;
    client->link = &http_clients;
    if (http_clients != NULL)
        http_clients->link = &client->next;
    http_clients = client;
    http_counts.clients++;
    net_set_user(conn, client);
    return true;
}

/* ---- requests */

static void take(struct http_client *client, size_t count)
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
    take(client, (size_t)parsed);
    if (request.method == HTTP_OTHER)
        http_refuse(client, 405, "Allow: GET, HEAD\r\n");
    else if (request.body)
        http_refuse(client, 413, "");
    else
        http_answer(client, &request);
    return true;
}

/* To be called when the response is sent. False: the client was freed. */
static bool answered(struct http_client *client)
{
    free(client->owned);
    client->owned = NULL;
    client->body_count = client->body_sent = 0;
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
static void on_receive(struct net_conn *conn, const void *bytes, size_t count)
{
    struct http_client *client = net_user(conn);

    if (!client->busy && client->in_count == 0)
        client->wait_ns = clock_ns();
    memcpy(client->in + client->in_count, bytes, count);
    client->in_count += count;
    if (client->in_count >= HTTP_HEAD_MAX) {
        client->paused = true;
        net_pause(conn);
    }
    http_client_work(client);
}

static void on_room(struct net_conn *conn)
{
    http_client_work(net_user(conn));
}

/* The peer has closed its side but may still be reading. Responses that take
 * long are aborted, because the peer has most likely gone away. */
static void on_ended(struct net_conn *conn)
{
    struct http_client *client = net_user(conn);

    client->ended = true;
    if (!client->busy || client->stopped != NULL)
        end(client);
}

/* A response without a request: the peer has made none yet. */
static const char too_many[] =
    "HTTP/1.1 503 Service Unavailable\r\nServer: parasite\r\n"
    "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
    "too many connections from your address\n";

int http_listen(uint16_t port)
{
    static struct net_sites sites = NET_SITES("http");
    static const struct net_handlers handlers = {
        .accept = on_accept,
        .receive = on_receive,
        .ended = on_ended,
        .room = on_room,
        .gone = on_gone,
        .refusal = too_many,
        .sites = &sites,
    };
    int error = net_listen(port, &handlers, NULL);

    if (error == 0)
        http_deadline_start();
    return error;
}
