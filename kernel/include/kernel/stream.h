/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_STREAM_H
#define KERNEL_STREAM_H

/*
 * TCP for tasks: connections with promises, on top of the callbacks of net.h.
 *
 *     struct stream_listener listener = {0};
 *     net_start();
 *     stream_listen(&listener, 7);
 *     for (;;) {
 *         struct promise_result r = task_await(stream_accept(&listener));
 *         ...
 *         promise_free(task_start("client", serve, (void *)r.value));
 *     }
 *
 * A stream belongs to the code that accepted it, until stream_close() or
 * stream_abort(). If the connection ends before that, its promises fail. At
 * most one receive and one send of a stream may be pending at a time; another
 * one fails.
 *
 * Contexts: thread. Images that include this file have the network.
 */

#include <kernel/net.h>
#include <kernel/promise.h>

#ifdef __cplusplus
extern "C" {
#endif

struct stream;

/* Connections not accepted yet, and waiters for connections. All members are
 * private. Owned by the caller, zeroed at first; MUST exist for ever. */
struct stream_listener {
    struct promise_link streams, waiters;
};

/* Listens on (port). Returns as net_listen(). */
int stream_listen(struct stream_listener *listener, uint16_t port);

/* Accepts a connection. The promise resolves with a struct stream *. If its
 * value is never read, the stream can be accepted again. */
#define stream_accept(listener)                                                \
    stream_accept_at(PROMISE_HERE("accept"), listener)
struct promise *stream_accept_at(struct prof_trace_name *site,
                                 struct stream_listener *listener);

/* Connects to (address). The promise resolves with a struct stream *. If its
 * value is never read, the stream is closed. */
#define stream_connect(address)                                                \
    stream_connect_at(PROMISE_HERE("connect"), address)
struct promise *stream_connect_at(struct prof_trace_name *site,
                                  const struct net_address *address);

/*
 * Receives up to (size) bytes into (buffer). The promise resolves with the
 * number of bytes received, or 0 if the peer has ended its side. (buffer) MUST
 * exist until the promise is completed. A cancelled promise has received
 * nothing.
 */
#define stream_receive(stream, buffer, size)                                   \
    stream_receive_at(PROMISE_HERE("receive"), stream, buffer, size)
struct promise *stream_receive_at(struct prof_trace_name *site,
                                  struct stream *stream, void *buffer,
                                  size_t size);

/*
 * Sends (bytes) bytes of (data). The promise resolves with (bytes) when the
 * stack has accepted all of them; the peer may receive them later. (data) MUST
 * exist until the promise is completed. If it is cancelled, an unknown part of
 * the data was sent.
 */
#define stream_send(stream, data, bytes)                                       \
    stream_send_at(PROMISE_HERE("send"), stream, data, bytes)
struct promise *stream_send_at(struct prof_trace_name *site,
                               struct stream *stream, const void *data,
                               size_t bytes);

/* End the connection, like net_close() and net_abort(). Pending promises fail.
 * (stream) is invalid afterwards. */
void stream_close(struct stream *stream);
void stream_abort(struct stream *stream);

/* Returns the peer's address. */
struct net_address stream_peer(const struct stream *stream);

#ifdef __cplusplus
}
#endif

#endif
