/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams hold one received piece at most and keep the connection paused until
 * somebody wants more. A piece stays here until the promise that it was
 * received by has been read, so that a receive which is given up loses nothing.
 */

#include <kernel/stream.h>

#include "stream_state.h"

#include <string.h>

static PROF_TRACE_NAME(reset, "the connection was reset");
static PROF_TRACE_NAME(timeout, "the peer no longer responds");
static PROF_TRACE_NAME(closed, "the stream is closed");
static PROF_TRACE_NAME(busy, "the stream is in use by another call");

void stream_release(struct stream *stream)
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

static void leave(struct stream *stream, void (*end)(struct net_conn *conn))
{
    struct net_conn *conn = stream->conn;

    finish(stream, &closed);
    if (conn != NULL)
        end(conn);
    stream_release(stream);
}

void stream_close(struct stream *stream)
{
    leave(stream, net_close);
}

void stream_abort(struct stream *stream)
{
    leave(stream, net_abort);
}

struct net_address stream_peer(const struct stream *stream)
{
    return stream->peer;
}

#define HANDLERS(begins)                                                       \
    {                                                                          \
        .accept = (begins), .receive = on_receive, .ended = on_ended,          \
        .room = on_room, .gone = on_gone,                                      \
    }

const struct net_handlers stream_accepts = HANDLERS(stream_accepted);
const struct net_handlers stream_connects = HANDLERS(stream_connected);
