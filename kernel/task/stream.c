/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams hold one received piece at most and keep the connection paused until
 * somebody wants more. A piece stays here until the promise that it was
 * received by has been read, so that a receive which is given up loses nothing.
 * A stream is accepted or connected; until the promise of either is read, the
 * promise owns the stream.
 */

#include <kernel/stream.h>

#include "internal.h"

#include <string.h>

struct stream {
    struct promise_link link; /* until it is accepted: in the listener's */
    struct net_conn *conn;    /* NULL: it has ended */
    struct net_address peer;
    struct prof_trace_name *why; /* it has ended */
    unsigned references;         /* the owner, the stack, promises */

    struct promise *connect; /* pending; produced here */

    struct promise *receive; /* pending; produced here */
    void *buffer;
    size_t size;
    size_t taken; /* bytes that a resolved receive has, not yet read */
    size_t held, held_at;
    bool ended; /* the peer's side */

    struct promise *send; /* pending; produced here */
    const uint8_t *data;
    size_t left, bytes;

    uint8_t piece[NET_PIECE_MAX]; /* held bytes from held_at on */
};

static PROF_TRACE_NAME(reset, "the connection was reset");
static PROF_TRACE_NAME(timeout, "the peer no longer responds");
static PROF_TRACE_NAME(closed, "the stream is closed");
static PROF_TRACE_NAME(busy, "the stream is in use by another call");

/* Drops one of its references. */
static void stream_release(struct stream *stream)
{
    if (--stream->references == 0)
        task_free(stream);
}

/* ---- receiving */

/* Completes the pending receive if there is something to be said. */
static void deliver(struct stream *stream)
{
    struct promise *own = stream->receive;

    if (own == NULL ||
        (stream->held == 0 && !stream->ended && stream->why == NULL))
        return;
    stream->receive = NULL;
    if (stream->held == 0 && !stream->ended) {
        promise_fail_for(own, stream->why);
        stream_release(stream);
        return;
    }
    stream->taken = stream->held < stream->size ? stream->held : stream->size;
    memcpy(stream->buffer, stream->piece + stream->held_at, stream->taken);
    if (promise_resolve(own, stream->taken))
        return;
    stream->taken = 0;
    stream_release(stream);
}

static void on_cancel_receive(struct promise *own, void *context)
{
    struct stream *stream = context;

    stream->receive = NULL;
    stream_release(stream);
    promise_stop(own);
}

static void on_ended_receive(void *context, uintptr_t value, bool read)
{
    struct stream *stream = context;

    (void)value;
    if (read) {
        stream->held -= stream->taken;
        stream->held_at += stream->taken;
    }
    stream->taken = 0;
    stream_release(stream);
}

struct promise *stream_receive_at(struct prof_trace_name *site,
                                  struct stream *stream, void *buffer,
                                  size_t size)
{
    static const struct promise_producer producer = {
        .kind = PROF_TRACE_IO,
        .cancel = on_cancel_receive,
        .ended = on_ended_receive,
    };
    struct promise *own;

    if (stream->receive != NULL || stream->taken != 0)
        return promise_failed(&busy);
    own = promise_new_at(site, &producer, stream);
    if (own == NULL)
        return NULL;
    stream->references++;
    stream->receive = own;
    stream->buffer = buffer;
    stream->size = size;
    deliver(stream);
    if (stream->receive != NULL)
        net_resume(stream->conn);
    return own;
}

static void on_receive(struct net_conn *conn, const void *bytes, size_t count)
{
    struct stream *stream = net_user(conn);

    net_pause(conn);
    memcpy(stream->piece, bytes, count);
    stream->held = count;
    stream->held_at = 0;
    deliver(stream);
}

static void on_ended(struct net_conn *conn)
{
    struct stream *stream = net_user(conn);

    stream->ended = true;
    deliver(stream);
}

/* ---- sending */

static void push(struct stream *stream)
{
    struct promise *own = stream->send;
    size_t taken;

    if (own == NULL)
        return;
    taken = net_write(stream->conn, stream->data, stream->left);
    stream->data += taken;
    stream->left -= taken;
    if (stream->left != 0)
        return;
    stream->send = NULL;
    promise_resolve(own, stream->bytes);
    stream_release(stream);
}

static void on_cancel_send(struct promise *own, void *context)
{
    struct stream *stream = context;

    stream->send = NULL;
    stream_release(stream);
    promise_stop(own);
}

struct promise *stream_send_at(struct prof_trace_name *site,
                               struct stream *stream, const void *data,
                               size_t bytes)
{
    static const struct promise_producer producer = {
        .kind = PROF_TRACE_IO,
        .cancel = on_cancel_send,
    };
    struct promise *own;

    if (stream->why != NULL)
        return promise_failed(stream->why);
    if (stream->send != NULL)
        return promise_failed(&busy);
    own = promise_new_at(site, &producer, stream);
    if (own == NULL)
        return NULL;
    stream->references++;
    stream->send = own;
    stream->data = data;
    stream->left = stream->bytes = bytes;
    push(stream);
    return own;
}

static void on_room(struct net_conn *conn)
{
    push(net_user(conn));
}

/* ---- the end */

/* The promise of a connect, which is the owner until it is read, fails. */
static void fail_connect(struct stream *stream, struct prof_trace_name *why)
{
    struct promise *connect = stream->connect;

    if (connect == NULL)
        return;
    stream->connect = NULL;
    promise_fail_for(connect, why);
    stream_release(stream);
}

/* Nothing comes or goes any more, because of (why). */
static void finish(struct stream *stream, struct prof_trace_name *why)
{
    struct promise *send = stream->send;

    stream->conn = NULL;
    stream->why = why;
    deliver(stream);
    if (send == NULL)
        return;
    stream->send = NULL;
    promise_fail_for(send, why);
    stream_release(stream);
}

static void on_gone(struct net_conn *conn, enum net_reason reason)
{
    struct prof_trace_name *why = reason == NET_RESET ? &reset : &timeout;
    struct stream *stream = net_user(conn);

    finish(stream, why);
    fail_connect(stream, why);
}

static void leave_stream(struct stream *stream,
                         void (*end)(struct net_conn *conn))
{
    struct net_conn *conn = stream->conn;

    finish(stream, &closed);
    if (conn != NULL)
        end(conn);
    stream_release(stream);
}

void stream_close(struct stream *stream)
{
    leave_stream(stream, net_close);
}

void stream_abort(struct stream *stream)
{
    leave_stream(stream, net_abort);
}

struct net_address stream_peer(const struct stream *stream)
{
    return stream->peer;
}

/* Callbacks of connections, by how they begin. */
static const struct net_handlers accept_handlers, connect_handlers;

/* ---- accepting */

struct acceptor {
    struct promise_link link;
    struct promise *own; /* produced here */
    struct stream_listener *listener;
    struct stream *stream; /* once it is resolved */
};

/* Brings streams and those who wait for one together. */
static void match(struct stream_listener *listener)
{
    while (!list_empty(&listener->streams) && !list_empty(&listener->waiters)) {
        struct acceptor *acceptor =
            LIST_OWNER(list_take(&listener->waiters), struct acceptor, link);
        struct stream *stream =
            LIST_OWNER(listener->streams.next, struct stream, link);

        acceptor->stream = stream;
        if (promise_resolve(acceptor->own, (uintptr_t)stream))
            list_remove(&stream->link);
        else
            task_free(acceptor);
    }
}

static void on_cancel_accept(struct promise *own, void *context)
{
    struct acceptor *acceptor = context;

    list_remove(&acceptor->link);
    task_free(acceptor);
    promise_stop(own);
}

static void on_ended_accept(void *context, uintptr_t value, bool read)
{
    struct acceptor *acceptor = context;

    (void)value;
    if (!read) {
        list_add(acceptor->listener->streams.next, &acceptor->stream->link);
        match(acceptor->listener);
    }
    task_free(acceptor);
}

struct promise *stream_accept_at(struct prof_trace_name *site,
                                 struct stream_listener *listener)
{
    static const struct promise_producer producer = {
        .kind = PROF_TRACE_CONNECTION,
        .cancel = on_cancel_accept,
        .ended = on_ended_accept,
    };
    struct acceptor *acceptor = task_alloc(sizeof *acceptor);
    struct promise *own;

    if (acceptor == NULL)
        return NULL;
    own = promise_new_at(site, &producer, acceptor);
    *acceptor = (struct acceptor){.own = own, .listener = listener};
    if (own == NULL) {
        task_free(acceptor);
        return NULL;
    }
    list_add(&listener->waiters, &acceptor->link);
    match(listener);
    return own;
}

/* ---- beginning */

static struct stream *new_stream(const struct net_address *peer)
{
    struct stream *stream = task_alloc(sizeof *stream);

    if (stream == NULL)
        return NULL;
    memset(stream, 0, sizeof *stream);
    stream->peer = *peer;
    stream->references = 1;
    return stream;
}

static bool on_accept(struct net_conn *conn, void *context)
{
    struct stream_listener *listener = context;
    const struct net_address peer = net_peer(conn);
    struct stream *stream = new_stream(&peer);

    if (stream == NULL)
        return false;
    stream->conn = conn;
    net_set_user(conn, stream);
    net_pause(conn);
    list_add(&listener->streams, &stream->link);
    match(listener);
    return true;
}

int stream_listen(struct stream_listener *listener, uint16_t port)
{
    list_init(&listener->streams);
    list_init(&listener->waiters);
    return net_listen(port, &accept_handlers, listener);
}

static bool on_connect(struct net_conn *conn, void *context)
{
    struct stream *stream = context;
    struct promise *connect = stream->connect;

    (void)conn;
    stream->connect = NULL;
    if (!promise_resolve(connect, (uintptr_t)stream))
        stream_close(stream);
    return true;
}

static void on_cancel_connect(struct promise *own, void *context)
{
    struct stream *stream = context;

    stream->connect = NULL;
    stream_abort(stream);
    promise_stop(own);
}

static void on_ended_connect(void *context, uintptr_t value, bool read)
{
    (void)value;
    if (!read)
        stream_close(context);
}

struct promise *stream_connect_at(struct prof_trace_name *site,
                                  const struct net_address *address)
{
    static PROF_TRACE_NAME(no_route, "no memory or no route to connect");
    static const struct promise_producer producer = {
        .kind = PROF_TRACE_CONNECTION,
        .cancel = on_cancel_connect,
        .ended = on_ended_connect,
    };
    struct stream *stream = new_stream(address);
    struct promise *own;

    if (stream == NULL)
        return NULL;
    own = promise_new_at(site, &producer, stream);
    if (own == NULL) {
        stream_release(stream);
        return NULL;
    }
    stream->connect = own;
    stream->conn = net_connect(address, &connect_handlers, stream);
    if (stream->conn == NULL) {
        promise_fail_for(own, &no_route);
        stream_release(stream);
        return own;
    }
    net_pause(stream->conn);
    return own;
}

#define HANDLERS(begins)                                                       \
    {                                                                          \
        .accept = (begins), .receive = on_receive, .ended = on_ended,          \
        .room = on_room, .gone = on_gone,                                      \
    }

static const struct net_handlers accept_handlers = HANDLERS(on_accept);
static const struct net_handlers connect_handlers = HANDLERS(on_connect);
