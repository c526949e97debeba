/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_HTTP_H
#define KERNEL_HTTP_H

/*
 * HTTP/1.1 for services: receives requests and sends responses, on each
 * connection one after the other.
 *
 *     bytes -> http_parse() -> answer() of the server -> one of:
 *         http_send()           a complete response
 *         http_stream_begin(), http_stream(), http_stream_end()
 *                               one in pieces
 *         http_upgrade()        the connection has another protocol then
 *
 * A response may begin within answer() or later. Until it is complete, only one
 * buffer of further input is accepted. Contexts: thread.
 */

#include <kernel/net.h>
#include <kernel/timer.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- requests
 *
 * The head of an HTTP/1.x request (RFC 9110, RFC 9112) is parsed from untrusted
 * bytes. Nothing is allocated, and no byte outside the input is read.
 *
 * Strict where leniency could make two parties disagree about the end of a
 * request: no folded lines, no blank before a colon, no bare CR, no control
 * characters, no second Host or Content-Length.
 */

#define HTTP_HEAD_MAX 4096u   /* bytes of a request's head */
#define HTTP_TARGET_MAX 1024u /* of its target */
#define HTTP_TOKEN_MAX 64u    /* of a token that http_allowed() compares */

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_OTHER, /* a valid method that is not supported */
};

struct http_request {
    enum http_method method;
    unsigned minor;                   /* HTTP/1.minor */
    char path[HTTP_TARGET_MAX + 1];   /* decoded, begins with '/' */
    char query[HTTP_TARGET_MAX + 1];  /* not decoded, without the '?' */
    char bearer[HTTP_TARGET_MAX + 1]; /* token of Authorization, "" = none */
    bool protobuf;                    /* prefers metrics in that format */
    bool keep_alive;                  /* keep the connection open */
    bool upgrade;                     /* asks for HTTP_UPGRADE */
    bool body;                        /* a body follows */
};

/* The protocol that a request may ask for, by "Connection: upgrade". */
#define HTTP_UPGRADE "parasite"

/*
 * Looks for one head at (bytes). Returns its length, blank line included, and
 * fills (request); 0 where more bytes are needed; or less than 0, the status
 * of an answer that refuses it: -400, -414 (target too long), -431 (head too
 * long), -505 (not HTTP/1.x). Linear in (count).
 */
int http_parse(struct http_request *request, const char *bytes, size_t count);

/* Whether (query) has (name), with any value or none. */
bool http_query_has(const char *query, const char *name);

/*
 * Copies the decoded value of (name) in (query), "a=1&b=2", to (value) of
 * (size) bytes including NUL. False: it is missing, malformed or does not fit.
 */
bool http_query(const char *query, const char *name, char *value, size_t size);

/*
 * Whether (given) equals (secret). The time depends on the length of (given),
 * but not on where they differ.
 */
bool http_same(const char *given, const char *secret);

/* ---- servers */

struct http_client; /* a connection */

/* Seconds that a client has. */
struct http_limits {
    uint32_t head_s; /* from the first byte of a request's head to its end */
    uint32_t idle_s; /* between requests; without reading any of a response */
};
#define HTTP_LIMITS                                                            \
    {                                                                          \
        .head_s = 20, .idle_s = 30                                             \
    }

struct http_counts {
    uint64_t requests;  /* answered */
    uint64_t refused;   /* of these, with status 400 or above */
    uint64_t bytes;     /* of responses */
    uint64_t timed_out; /* clients that took too long */
    uint32_t clients;   /* connected now */
};

/* Owned by the service. MUST stay valid after http_listen(). */
struct http_server {
    /* Called with each valid request. */
    void (*answer)(struct http_client *client,
                   const struct http_request *request);
    struct http_limits limits;
    uint32_t clients_max; /* others are refused; 0 = as many as can connect */
    bool posts;           /* POST is for answer(), too, which does not get its
                             body; the connection ends after the response */
    bool profiler;        /* what it does is work of the profiler's */
    struct net_sites *sites;

    struct http_counts counts;   /* read only */
    struct http_client *clients; /* private: the first of all */
    struct net_handlers handlers;
    struct loop_timer sweep;
};

/* Listens on (port). Returns 0 or an error of net_listen(). */
int http_listen(struct http_server *server, uint16_t port);

/* ---- responses */

/*
 * Whether (request) has (token), as Authorization: Bearer or as token= in its
 * query. If not, responds itself: that there is none (401), or another (403).
 */
bool http_allowed(struct http_client *client,
                  const struct http_request *request, const char *token);

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

/* The same with one line of text, which says why. MUST stay valid. */
void http_refuse_because(struct http_client *client, unsigned status,
                         const char *why);

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

/*
 * The same for a response that is only a moment away: a peer that closes its
 * side meanwhile still gets it. After limits.idle_s the peer is disconnected.
 */
void http_defer(struct http_client *client, void (*stopped)(void *context),
                void *context);

/* ---- responses that other CPUs prepare */

/* All of a response; initially without a body. */
struct http_page {
    unsigned status;
    const char *type; /* constant */
    const void *body; /* NULL: the status with its reason phrase */
    size_t count;     /* bytes of the body */
    void *owned;      /* as for http_send() */
};

/* Fills (page) with what is at (path). Contexts: thread, on any CPU, several at
 * a time: with what <kernel/cpu.h> lets them use. */
typedef void http_prepare(const char *path, struct http_page *page);

/*
 * Responds with what (prepare) makes of the path of (request). With several
 * CPUs one of the others calls it, that with the fewest requests to do; with
 * one, or without memory, it is called at once.
 */
void http_send_prepared(struct http_client *client,
                        const struct http_request *request,
                        http_prepare *prepare);

/* How many responses were dispatched to (cpu), one of several, so. */
uint64_t http_dispatched_to(unsigned cpu);

/* The other end. */
struct net_address http_peer(const struct http_client *client);

/* net_flush(), and net_finish(), after which (client) is invalid; for one with
 * another protocol, before the image ends. */
bool http_flush(struct http_client *client);
void http_finish(struct http_client *client);

/* What has another protocol once the request was answered with status 101. */
struct http_upgrade {
    /* (count) bytes have come. Returns how many of them it has taken: where
     * that is none, it is called again with these and more. Not called while
     * there is something to be sent. MUST NOT end the connection. */
    size_t (*receive)(void *context, const char *bytes, size_t count);
    /* The connection has ended; called once, and the client is invalid. */
    void (*stopped)(void *context);
};

/*
 * From now on both sides send what they like: http_stream() sends bytes as they
 * are, and what comes is passed on. Ends by http_stream_end(), when the peer
 * ends its side, or where it has read nothing for the server's idle_s although
 * there is something to be read.
 */
void http_upgrade(struct http_client *client,
                  const struct http_upgrade *upgrade, void *context);

/* Sends (count) bytes at (bytes), a block that is freed afterwards: once for
 * each call of receive(), in it. */
void http_say(struct http_client *client, char *bytes, size_t count);

#endif
