/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_HTTP_H
#define KERNEL_HTTP_H

/*
 * An HTTP/1.1 server for services. Each connection processes one request after
 * the other.
 *
 *     bytes -> http_parse() -> answer() of the server -> one of:
 *         http_send()           a complete response
 *         http_stream_begin(), http_stream(), http_stream_end()
 *                               a response in pieces
 *         http_upgrade()        the connection switches protocols
 *
 * A response may begin within answer() or later. Until it is complete, only one
 * buffer of further input is accepted. Contexts: thread, unless stated
 * otherwise.
 */

#include <kernel/net.h>
#include <kernel/timer.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- requests
 *
 * Parses the head of an HTTP/1.x request (RFC 9110, RFC 9112) from untrusted
 * bytes. Allocates nothing, and reads no byte outside the input.
 *
 * The parser is strict where leniency could make two parties disagree about the
 * end of a request: no folded lines, no blank before a colon, no bare CR, no
 * control characters, no second Host or Content-Length.
 */

#define HTTP_HEAD_MAX 4096u   /* bytes of a request's head */
#define HTTP_TARGET_MAX 1024u /* bytes of a request's target */
#define HTTP_TOKEN_MAX 64u    /* bytes of a token for http_allowed() */

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
    bool protobuf;                    /* prefers metrics as protobuf */
    bool keep_alive;                  /* keep the connection open */
    bool upgrade;                     /* asks for HTTP_UPGRADE */
    bool body;                        /* a body follows */
};

/* The protocol for "Upgrade:", with "Connection: upgrade". */
#define HTTP_UPGRADE "parasite"

/*
 * Parses one request head from the (count) bytes at (bytes) into (request).
 * Returns its length, including the blank line; 0 if more bytes are needed; or
 * the negative status of the response that refuses it: -400, -414 (target too
 * long), -431 (head too long), -505 (not HTTP/1.x). Linear in (count).
 */
int http_parse(struct http_request *request, const char *bytes, size_t count);

/* Returns whether (query), "a=1&b=2", contains (name), with any value or
 * none. */
bool http_query_has(const char *query, const char *name);

/*
 * Copies the decoded value of (name) in (query) to the (size) bytes at (value),
 * with a NUL. Returns false if it is missing, malformed or does not fit.
 */
bool http_query(const char *query, const char *name, char *value, size_t size);

/*
 * Returns whether (given) equals (secret). The time depends on the length of
 * (given), but not on where the two differ.
 */
bool http_same(const char *given, const char *secret);

/* ---- servers */

struct http_client; /* a connection */

/* Timeouts of a client, in seconds. */
struct http_limits {
    uint32_t head_s; /* from the first byte of a request's head to its end */
    uint32_t idle_s; /* between requests, and without reading any byte of a
                        response */
};
#define HTTP_LIMITS                                                            \
    {                                                                          \
        .head_s = 20, .idle_s = 30                                             \
    }

struct http_counts {
    uint64_t requests;  /* requests answered */
    uint64_t refused;   /* of these, with status 400 or above */
    uint64_t bytes;     /* bytes of responses */
    uint64_t timed_out; /* clients that exceeded a timeout */
    uint32_t clients;   /* clients connected now */
};

/* Owned by the service. MUST remain valid after http_listen(). */
struct http_server {
    /* Called with each valid request. */
    void (*answer)(struct http_client *client,
                   const struct http_request *request);
    struct http_limits limits;
    uint32_t clients_max; /* further clients are refused; 0 = no limit */
    bool posts;           /* answer() is called for POST, too, without its
                             body; the connection ends after the response */
    bool profiler;        /* its work counts as the profiler's own */
    struct net_sites *sites;

    struct http_counts counts;   /* read only */
    struct http_client *clients; /* private: the first of all */
    struct net_handlers handlers;
    struct loop_timer sweep;
};

/* Listens on (port). Returns 0, or an error of net_listen(). */
int http_listen(struct http_server *server, uint16_t port);

/* ---- responses */

/*
 * Returns whether (request) has (token), as Authorization: Bearer or as token=
 * in its query. If not, responds with 401 (no token) or 403 (another token).
 */
bool http_allowed(struct http_client *client,
                  const struct http_request *request, const char *token);

/*
 * Responds with (status) and the (count) bytes at (body), of type (type).
 * (owned) is NULL or the block that contains (body), which is freed afterwards.
 * The body is not sent in response to HEAD. (extra) contains further header
 * lines, or "".
 */
void http_send(struct http_client *client, unsigned status, const char *type,
               const char *extra, const void *body, size_t count, void *owned);

/* Responds with (status) and its reason phrase. */
void http_refuse(struct http_client *client, unsigned status,
                 const char *extra);

/* Responds with (status) and (why), one line of text, which MUST remain
 * valid. */
void http_refuse_because(struct http_client *client, unsigned status,
                         const char *why);

/*
 * Begins a response of unknown length. (stopped) is called once with (context)
 * if the peer disconnects before http_stream_end(); (client) is invalid then.
 */
void http_stream_begin(struct http_client *client, const char *type,
                       void (*stopped)(void *context), void *context);

/*
 * Sends (count) more bytes, at most slightly less than NET_ROOM_WORTH. Returns
 * false, and sends nothing, if there is no room now. Returns true, and sends
 * nothing, in response to HEAD, and after an allocation has failed within a
 * piece; http_stream_end() then resets the connection.
 */
bool http_stream(struct http_client *client, const void *bytes, size_t count);

/* Completes the response. */
void http_stream_end(struct http_client *client);

/*
 * Announces a response that is not ready yet: (stopped) is called with
 * (context) if the peer disconnects before http_send().
 */
void http_wait(struct http_client *client, void (*stopped)(void *context),
               void *context);

/*
 * Like http_wait(), for a response that follows in a moment: a peer that closes
 * its side meanwhile still gets it. After limits.idle_s the peer is
 * disconnected.
 */
void http_defer(struct http_client *client, void (*stopped)(void *context),
                void *context);

/* ---- responses that other CPUs prepare */

/* A complete response; initially without a body. */
struct http_page {
    unsigned status;
    const char *type; /* constant */
    const void *body; /* NULL: the status with its reason phrase */
    size_t count;     /* bytes of the body */
    void *owned;      /* as for http_send() */
};

/* Fills (page) with the response for (path). Contexts: thread, on any CPU, on
 * several at a time; may use what <kernel/cpu.h> permits there. */
typedef void http_prepare(const char *path, struct http_page *page);

/*
 * Responds with the page that (prepare) fills for the path of (request). With
 * several CPUs, the CPU other than 0 with the fewest requests to do calls it;
 * with one CPU, or without memory, it is called at once.
 */
void http_send_prepared(struct http_client *client,
                        const struct http_request *request,
                        http_prepare *prepare);

/* Returns the number of responses that http_send_prepared() dispatched to
 * (cpu). */
uint64_t http_dispatched_to(unsigned cpu);

/* Returns the peer's address. */
struct net_address http_peer(const struct http_client *client);

/* Like net_flush() and net_finish(), for a client with another protocol, before
 * the image ends. After http_finish() (client) is invalid. */
bool http_flush(struct http_client *client);
void http_finish(struct http_client *client);

/* Handlers of a connection after http_upgrade(). */
struct http_upgrade {
    /* Processes received bytes, and returns how many of the (count) it has
     * taken. If it takes none, it is called again with these and more. Not
     * called while data are waiting to be sent. MUST NOT end the connection. */
    size_t (*receive)(void *context, const char *bytes, size_t count);
    /* Called once when the connection has ended; the client is invalid. */
    void (*stopped)(void *context);
};

/*
 * Responds with status 101 and switches protocols: http_stream() sends bytes
 * unchanged, and received bytes are passed to (upgrade) with (context). Ends
 * with http_stream_end(), when the peer ends its side, or when the peer has
 * read nothing for the server's idle_s although data are waiting.
 */
void http_upgrade(struct http_client *client,
                  const struct http_upgrade *upgrade, void *context);

/* Sends the (count) bytes at (bytes), a block that is freed afterwards. To be
 * called within receive(), at most once for each call of it. */
void http_say(struct http_client *client, char *bytes, size_t count);

#endif
