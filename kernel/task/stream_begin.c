/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How streams begin: accepted or connected. Until the promise of either is
 * read, it is the promise that owns the stream.
 */

#include "stream_state.h"

#include <string.h>

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

bool stream_accepted(struct net_conn *conn, void *context)
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
    return net_listen(port, &stream_accepts, listener);
}

bool stream_connected(struct net_conn *conn, void *context)
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
    stream->conn = net_connect(address, &stream_connects, stream);
    if (stream->conn == NULL) {
        promise_fail_for(own, &no_route);
        stream_release(stream);
        return own;
    }
    net_pause(stream->conn);
    return own;
}
