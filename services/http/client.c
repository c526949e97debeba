/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See client.h. Received bytes wait in the client's buffer until the previous
 * response is sent. When the buffer is full the connection is paused.
 */

#include "client.h"

#include <kernel/clock.h>
#include <kernel/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 512u
#define CHUNK_HEAD_MAX 10u /* hexadecimal length, CR and LF */
#define CHUNK_TAIL "\r\n"
#define STREAM_END "0\r\n\r\n"
#define SWEEP_NS 1000000000ull
#define IDLE_NS 30000000000ull /* timeout of a client */

struct http_client {
    struct net_conn *conn;
    struct http_client *next, **link;       /* in the list of clients */
    char in[HTTP_HEAD_MAX + NET_PIECE_MAX]; /* received, not answered yet */
    size_t in_count;
    char head[HEAD_BYTES]; /* of the response */
    size_t head_count, head_sent;
    const char *body;
    size_t body_count, body_sent;
    void *owned;
    void (*stopped)(void *context); /* the response is produced elsewhere */
    void *context;
    uint64_t active_ns; /* time of the last progress */
    bool busy;          /* a response is not sent yet */
    bool chunked;       /* it is sent in chunks */
    bool plain;         /* it ends with the connection (HTTP/1.0) */
    bool no_body;       /* the request is HEAD */
    bool close;         /* close the connection after it */
    bool broken;        /* an incomplete chunk was sent */
    bool ended;         /* the peer has closed its side */
    bool working;       /* work() is active */
    bool paused;        /* the buffer is full */
    unsigned minor;     /* the request's HTTP/1.minor */
};

struct http_counts http_counts;

static struct http_client *clients;
static struct loop_timer sweep_timer;

/* ---- connecting and disconnecting */

static void forget(struct http_client *client)
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
    forget(client);
}

static void on_gone(struct net_conn *conn, enum net_reason reason)
{
    (void)reason;
    forget(net_user(conn));
}

static bool on_accept(struct net_conn *conn, void *unused)
{
    struct http_client *client = calloc(1, sizeof *client);

    (void)unused;
    if (client == NULL)
        return false;
    client->conn = conn;
    client->active_ns = clock_ns();
    client->next = clients;
    client->link = &clients;
    if (clients != NULL)
        clients->link = &client->next;
    clients = client;
    http_counts.clients++;
    net_set_user(conn, client);
    return true;
}

/* Disconnects idle clients, except those whose response is not ready on our
 * side. */
static void sweep(void *unused)
{
    uint64_t now_ns = clock_ns();
    struct http_client *next;

    (void)unused;
    for (struct http_client *each = clients; each != NULL; each = next) {
        next = each->next;
        if (each->stopped != NULL || now_ns - each->active_ns < IDLE_NS)
            continue;
        http_counts.timed_out++;
        if (each->busy)
            net_abort(each->conn);
        else
            net_close(each->conn);
        forget(each);
    }
}

/* ---- responses */

static const char *reason(unsigned status)
{
    static const struct {
        unsigned status;
        const char *text;
    } reasons[] = {
        {200, "OK"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].text;
    return "";
}

static void write_head(struct http_client *client, unsigned status,
                       const char *type, const char *extra, const char *length)
{
    client->head_sent = 0;
    client->head_count = (size_t)snprintf(
        client->head, sizeof client->head,
        "HTTP/1.1 %u %s\r\nServer: parasite\r\nContent-Type: %s\r\n%s%s"
        "Connection: %s\r\n\r\n",
        status, reason(status), type, extra, length,
        client->close ? "close" : "keep-alive");
    http_counts.requests++;
    http_counts.refused += status >= 400;
}

static bool send_some(struct http_client *client, const char *bytes,
                      size_t count, size_t *sent)
{
    size_t taken = net_write(client->conn, bytes + *sent, count - *sent);

    *sent += taken;
    http_counts.bytes += taken;
    if (taken != 0)
        client->active_ns = clock_ns();
    return *sent == count;
}

/* Sends what is possible. True: the response is complete. */
static bool send_answer(struct http_client *client)
{
    return send_some(client, client->head, client->head_count,
                     &client->head_sent) &&
           send_some(client, client->body, client->body_count,
                     &client->body_sent);
}

static void work(struct http_client *client);

void http_send(struct http_client *client, unsigned status, const char *type,
               const char *extra, const void *body, size_t count, void *owned)
{
    char length[40];

    client->stopped = NULL;
    snprintf(length, sizeof length, "Content-Length: %lu\r\n",
             (unsigned long)count);
    write_head(client, status, type, extra, length);
    client->body = body;
    client->body_count = client->no_body ? 0 : count;
    client->body_sent = 0;
    client->owned = owned;
    work(client);
}

void http_refuse(struct http_client *client, unsigned status, const char *extra)
{
    const char *text = reason(status);

    http_send(client, status, "text/plain; charset=utf-8", extra, text,
              strlen(text), NULL);
}

void http_wait(struct http_client *client, void (*stopped)(void *context),
               void *context)
{
    client->stopped = stopped;
    client->context = context;
}

void http_stream_begin(struct http_client *client, const char *type,
                       void (*stopped)(void *context), void *context)
{
    http_wait(client, stopped, context);
    client->plain = client->minor == 0;
    client->chunked = !client->plain;
    client->close = client->close || client->plain;
    write_head(client, 200, type, "",
               client->plain ? "" : "Transfer-Encoding: chunked\r\n");
    client->body_count = client->body_sent = 0;
    (void)send_answer(client);
}

bool http_stream(struct http_client *client, const void *bytes, size_t count)
{
    char length[CHUNK_HEAD_MAX + 1];
    size_t length_count = 0, sent = 0;

    if (client->no_body || client->broken)
        return true;
    if (client->head_sent != client->head_count ||
        net_room(client->conn) < count + CHUNK_HEAD_MAX + 2)
        return false;
    if (client->chunked)
        length_count = (size_t)snprintf(length, sizeof length, "%lx\r\n",
                                        (unsigned long)count);
    if (!send_some(client, length, length_count, &sent)) {
        client->broken = sent != 0;
        return client->broken;
    }
    sent = 0;
    client->broken = !send_some(client, bytes, count, &sent);
    sent = 0;
    if (client->chunked && !client->broken)
        client->broken = !send_some(client, CHUNK_TAIL, 2, &sent);
    return true;
}

void http_stream_end(struct http_client *client)
{
    static const char tail[] = STREAM_END;

    client->stopped = NULL;
    if (client->broken) {
        net_abort(client->conn);
        forget(client);
        return;
    }
    client->body = tail;
    client->body_count =
        client->chunked && !client->no_body ? sizeof tail - 1 : 0;
    client->body_sent = 0;
    work(client);
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
    if (!client->close)
        return true;
    end(client);
    return false;
}

/*
 * Sends responses and handles requests until one of them has to wait. Handlers
 * call this function again; the nested call does nothing, and the loop here
 * continues.
 */
static void work(struct http_client *client)
{
    if (client->working)
        return;
    client->working = true;
    for (;;) {
        if (client->busy) {
            bool sent = send_answer(client);

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

    client->active_ns = clock_ns();
    memcpy(client->in + client->in_count, bytes, count);
    client->in_count += count;
    if (client->in_count >= HTTP_HEAD_MAX) {
        client->paused = true;
        net_pause(conn);
    }
    work(client);
}

static void on_room(struct net_conn *conn)
{
    work(net_user(conn));
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

int http_listen(uint16_t port)
{
    static const struct net_handlers handlers = {on_accept, on_receive,
                                                 on_ended, on_room, on_gone};
    int error = net_listen(port, &handlers, NULL);

    if (error == 0)
        loop_every(&sweep_timer, SWEEP_NS, sweep, NULL);
    return error;
}
