/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

/*
 * A connection that speaks HTTP/1.1: requests out of what comes in, one after
 * the other, and answers out to it as fast as it reads them. What is asked
 * for is somebody else's matter (http_answer() in main.c).
 *
 *     bytes -> http_parse() -> http_answer() -> one of:
 *         http_send()           an answer that is there as a whole
 *         http_stream_begin(), http_stream(), http_stream_end()
 *                               one that comes bit by bit
 *
 * An answer may be begun within http_answer() or at any time later; until it is
 * whole, nothing more of the peer is read than fits.
 */

#include "parse.h"

#include <kernel/net.h>

struct http_client;

/* Called by client.c with each good request. To be given by main.c. */
void http_answer(struct http_client *client,
                 const struct http_request *request);

/*
 * Answers with (status) and (count) bytes at (body), of type (type); (owned),
 * NULL or what (body) lies in, is freed when it is sent. The body of an answer
 * to HEAD is not sent. (extra) are further header lines, or "".
 */
void http_send(struct http_client *client, unsigned status, const char *type,
               const char *extra, const void *body, size_t count, void *owned);

/* Answers with (status) and a line of text that says what it means. */
void http_refuse(struct http_client *client, unsigned status,
                 const char *extra);

/*
 * Begins an answer whose length nobody knows yet. (stopped) is called with
 * (context) once if the peer goes away before http_stream_end(), after which
 * (client) is dead.
 */
void http_stream_begin(struct http_client *client, const char *type,
                       void (*stopped)(void *context), void *context);

/*
 * Sends (count) bytes more, whole; false: there is no room just now. At most
 * NET_ROOM_WORTH less a few. True and nothing more is sent after HEAD, and
 * after memory ran out within a piece: the end then resets the peer.
 */
bool http_stream(struct http_client *client, const void *bytes, size_t count);

/* The answer is whole. */
void http_stream_end(struct http_client *client);

/*
 * The same for an answer that is not begun yet but will be: (stopped) is
 * called if the peer goes away before. http_send() then ends the wait.
 */
void http_wait(struct http_client *client, void (*stopped)(void *context),
               void *context);

/* Listens on (port). 0, or net_listen()'s error. */
int http_listen(uint16_t port);

struct http_counts {
    uint64_t requests;  /* answered */
    uint64_t refused;   /* of these, with a status of 400 and up */
    uint64_t bytes;     /* of answers */
    uint64_t timed_out; /* clients that said too little for too long */
    uint32_t clients;   /* now */
};
extern struct http_counts http_counts;

#endif
