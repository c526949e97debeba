/* SPDX-License-Identifier: Apache-2.0 */
/* Responses: complete ones, and in pieces. See <kernel/http.h>. */

#include "connection.h"

#include <kernel/clock.h>
#include <stdio.h>
#include <string.h>

#define CHUNK_HEAD_MAX 10u /* hexadecimal length, CR and LF */
#define CHUNK_TAIL "\r\n"
#define STREAM_END "0\r\n\r\n"

static const char *reason(unsigned status)
{
    static const struct {
        unsigned status;
        const char *text;
    } reasons[] = {
        {101, "Switching Protocols"},
        {200, "OK"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {426, "Upgrade Required"},
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

/* Its time begins. */
static void begin_response(struct http_client *client)
{
    client->begun_ns = client->active_ns = clock_ns();
    client->sent = 0;
}

static void write_head(struct http_client *client, unsigned status,
                       const char *type, const char *extra, const char *length)
{
    begin_response(client);
    client->head_sent = 0;
    client->head_count = (size_t)snprintf(
        client->head, sizeof client->head,
        "HTTP/1.1 %u %s\r\nServer: parasite\r\nContent-Type: %s\r\n%s%s"
        "Connection: %s\r\n\r\n",
        status, reason(status), type, extra, length,
        client->close ? "close" : "keep-alive");
    client->server->counts.requests++;
    client->server->counts.refused += status >= 400;
}

static bool send_some(struct http_client *client, const char *bytes,
                      size_t count, size_t *sent)
{
    size_t taken = net_write(client->conn, bytes + *sent, count - *sent);

    *sent += taken;
    client->sent += taken;
    client->server->counts.bytes += taken;
    if (taken != 0)
        client->active_ns = clock_ns();
    return *sent == count;
}

bool http_response_send(struct http_client *client)
{
    return send_some(client, client->head, client->head_count,
                     &client->head_sent) &&
           send_some(client, client->body, client->body_count,
                     &client->body_sent);
}

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
    http_client_work(client);
}

void http_refuse(struct http_client *client, unsigned status, const char *extra)
{
    const char *text = reason(status);

    http_send(client, status, "text/plain; charset=utf-8", extra, text,
              strlen(text), NULL);
}

void http_refuse_because(struct http_client *client, unsigned status,
                         const char *why)
{
    http_send(client, status, "text/plain; charset=utf-8", "", why, strlen(why),
              NULL);
}

bool http_allowed(struct http_client *client,
                  const struct http_request *request, const char *token)
{
    char given[HTTP_TARGET_MAX + 1];

    strcpy(given, request->bearer);
    if (given[0] == '\0' &&
        !http_query(request->query, "token", given, sizeof given))
        given[0] = '\0';
    if (http_same(given, token))
        return true;
    if (given[0] == '\0')
        http_refuse(client, 401, "WWW-Authenticate: Bearer\r\n");
    else
        http_refuse(client, 403, "");
    return false;
}

void http_wait(struct http_client *client, void (*stopped)(void *context),
               void *context)
{
    client->stopped = stopped;
    client->context = context;
    client->soon = false;
}

void http_defer(struct http_client *client, void (*stopped)(void *context),
                void *context)
{
    http_wait(client, stopped, context);
    client->soon = true;
    client->active_ns = clock_ns();
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
    (void)http_response_send(client);
}

bool http_stream(struct http_client *client, const void *bytes, size_t count)
{
    char length[CHUNK_HEAD_MAX + 1];
    size_t length_count = 0, sent = 0;

    if (client->no_body || client->broken)
        return true;
    if (client->head_sent != client->head_count ||
        client->body_sent != client->body_count ||
        net_room(client->conn) < count + CHUNK_HEAD_MAX + 2) {
        if (client->refused_ns == 0)
            client->refused_ns = clock_ns();
        return false;
    }
    client->refused_ns = 0;
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
        http_client_forget(client);
        return;
    }
    begin_response(client);
    client->body = tail;
    client->body_count =
        client->chunked && !client->no_body ? sizeof tail - 1 : 0;
    client->body_sent = 0;
    http_client_work(client);
}

struct net_address http_peer(const struct http_client *client)
{
    return net_peer(client->conn);
}

bool http_flush(struct http_client *client)
{
    return net_flush(client->conn);
}

void http_finish(struct http_client *client)
{
    struct net_conn *conn = client->conn;

    http_client_forget(client);
    net_finish(conn);
}

/* ---- another protocol */

void http_upgrade(struct http_client *client,
                  const struct http_upgrade *upgrade, void *context)
{
    http_wait(client, upgrade->stopped, context);
    client->upgrade = upgrade;
    client->plain = client->close = true;
    client->chunked = client->no_body = false;
    begin_response(client);
    client->head_sent = 0;
    client->head_count = (size_t)snprintf(
        client->head, sizeof client->head,
        "HTTP/1.1 101 %s\r\nServer: parasite\r\nConnection: Upgrade\r\n"
        "Upgrade: " HTTP_UPGRADE "\r\n\r\n",
        reason(101));
    client->server->counts.requests++;
    client->body_count = client->body_sent = 0;
    (void)http_response_send(client);
}

void http_say(struct http_client *client, char *bytes, size_t count)
{
    begin_response(client);
    client->body = client->owned = bytes;
    client->body_count = count;
    client->body_sent = 0;
}
