/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

/*
 * An HTTP/1.1 connection: receives requests and sends responses, one after the
 * other. http_answer() in main.c handles requests.
 *
 *     bytes -> http_parse() -> http_answer() -> one of:
 *         http_send()           a complete response
 *         http_stream_begin(), http_stream(), http_stream_end()
 *                               one in pieces
 *
 * A response may begin within http_answer() or later. Until it is complete,
 * only one buffer of further input is accepted.
 */

#include "parse.h"

#include <kernel/net.h>

struct http_client;

/* Called by connection.c with each valid request. Defined in main.c. */
void http_answer(struct http_client *client,
                 const struct http_request *request);

/*
 * Responds with (status) and (count) bytes at (body) of type (type). (owned) is
 * NULL or the block that contains (body), which is freed afterwards. The body
 * is not sent to HEAD. (extra) contains further header lines, or "".
 */
void http_send(struct http_client *client, unsigned status, const char *type,
               const char *extra, const void *body, size_t count, void *owned);

/* Responds with (status) and its reason phrase. */
void http_refuse(struct http_client *client, unsigned status,
                 const char *extra);

/*
 * Begins a response of unknown length. (stopped) is called once with (context)
 * if the peer disconnects before http_stream_end(); (client) is invalid then.
 */
void http_stream_begin(struct http_client *client, const char *type,
                       void (*stopped)(void *context), void *context);

/*
 * Sends (count) more bytes, at most slightly less than NET_ROOM_WORTH. False:
 * there is no room now, and nothing was sent. Returns true and sends nothing
 * for HEAD, and after an allocation failed within a piece; http_stream_end()
 * then resets the connection.
 */
bool http_stream(struct http_client *client, const void *bytes, size_t count);

/* The response is complete. */
void http_stream_end(struct http_client *client);

/*
 * Announces a response that is not ready yet: (stopped) is called if the peer
 * disconnects before http_send().
 */
void http_wait(struct http_client *client, void (*stopped)(void *context),
               void *context);

/* Seconds that a client has; to be set before http_listen(). */
struct http_limits {
    uint32_t head_s; /* from the first byte of a request's head to its end */
    uint32_t idle_s; /* between requests; without reading any of a response */
};
extern struct http_limits http_limits;

/* Listens on (port). Returns 0 or an error of net_listen(). */
int http_listen(uint16_t port);

struct http_counts {
    uint64_t requests;  /* answered */
    uint64_t refused;   /* of these, with status 400 or above */
    uint64_t bytes;     /* of responses */
    uint64_t timed_out; /* clients that took too long */
    uint32_t clients;   /* connected now */
};
extern struct http_counts http_counts;

#endif
