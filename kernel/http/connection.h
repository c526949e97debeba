/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_CONNECTION_H
#define HTTP_CONNECTION_H

/*
 * A connection; shared by connection.c (receiving), response.c (sending),
 * deadline.c (the clients that take too long) and spread.c (other CPUs).
 */

#include <kernel/http.h>

#define HTTP_RESPONSE_HEAD_MAX 512u

struct http_client {
    struct http_server *server;
    struct net_conn *conn;
    struct http_client *next, **link;       /* in the server's list */
    char in[HTTP_HEAD_MAX + NET_PIECE_MAX]; /* received, not answered yet */
    size_t in_count;
    char head[HTTP_RESPONSE_HEAD_MAX]; /* of the response */
    size_t head_count, head_sent;
    const char *body;
    size_t body_count, body_sent;
    void *owned;
    void (*stopped)(void *context); /* the response is produced elsewhere */
    void *context;
    const struct http_upgrade *upgrade; /* it has another protocol now */
    uint64_t wait_ns;    /* since when a request is waited for; where a part of
                            it has come, since that began */
    uint64_t begun_ns;   /* time of the response's beginning */
    uint64_t active_ns;  /* time of its last progress */
    uint64_t refused_ns; /* since when http_stream() has no room, 0 = it has */
    uint64_t sent;       /* bytes of the response */
    bool busy;           /* a response is not sent yet */
    bool chunked;        /* it is sent in chunks */
    bool plain;          /* it ends with the connection (HTTP/1.0) */
    bool no_body;        /* the request is HEAD */
    bool close;          /* close the connection after it */
    bool broken;         /* an incomplete chunk was sent */
    bool ended;          /* the peer has closed its side */
    bool working;        /* http_client_work() is active */
    bool paused;         /* the buffer is full */
    bool soon;           /* what `stopped` is for will be there soon */
    unsigned minor;      /* the request's HTTP/1.minor */
};

/* ---- connection.c */

/*
 * Sends responses and handles requests until one of them has to wait. Handlers
 * call this function again; the nested call does nothing, and the outer one
 * continues. (client) may be freed.
 */
void http_client_work(struct http_client *client);

/* Frees (client), whose connection was closed, and calls `stopped`. */
void http_client_forget(struct http_client *client);

/* ---- response.c */

/* Sends what is possible. True: the response is complete. */
bool http_response_send(struct http_client *client);

/* ---- deadline.c */

/* To be called once for each: from now on, late clients are disconnected. */
void http_deadline_start(struct http_server *server);

#endif
