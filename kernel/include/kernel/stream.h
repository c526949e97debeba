/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_STREAM_H
#define KERNEL_STREAM_H

/*
 * TCP for tasks: connections that are awaited, over the callbacks of net.h.
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
 * A stream belongs to whoever has accepted it until stream_close() or
 * stream_abort(); if the connection ends before, its promises fail. At most one
 * receive and one send of a stream may be pending at a time; another one fails.
 *
 * Contexts: thread. Images that include this file have the network.
 */

#include <kernel/net.h>
#include <kernel/promise.h>

#ifdef __cplusplus
extern "C" {
#endif

struct stream;

/* Connections that nobody has accepted yet, and who waits for one. All private;
 * owned by the caller, initially all zero, MUST exist for ever. */
struct stream_listener {
    struct promise_link streams, waiters;
};

/* Listens on (port). Returns what net_listen() does. */
int stream_listen(struct stream_listener *listener, uint16_t port);

/* Resolves with a struct stream *. If that is not read, it is accepted
 * again. */
#define stream_accept(listener)                                                \
    stream_accept_at(PROMISE_HERE("accept"), listener)
struct promise *stream_accept_at(struct prof_trace_name *site,
                                 struct stream_listener *listener);

/* Connects to (address). Resolves with a struct stream *, as accept does; if
 * that is not read, it is closed. */
#define stream_connect(address)                                                \
    stream_connect_at(PROMISE_HERE("connect"), address)
struct promise *stream_connect_at(struct prof_trace_name *site,
                                  const struct net_address *address);

/*
 * Resolves with the number of bytes received into (buffer), 1 to (size); 0: the
 * peer has ended its side. (buffer) MUST exist until it is completed.
 * Cancelled, it has received nothing.
 */
#define stream_receive(stream, buffer, size)                                   \
    stream_receive_at(PROMISE_HERE("receive"), stream, buffer, size)
struct promise *stream_receive_at(struct prof_trace_name *site,
                                  struct stream *stream, void *buffer,
                                  size_t size);

/*
 * Resolves with (bytes) when the stack has taken all of them, which is not when
 * the peer has them. (data) MUST exist until then. Cancelled, an unknown part
 * of them was sent.
 */
#define stream_send(stream, data, bytes)                                       \
    stream_send_at(PROMISE_HERE("send"), stream, data, bytes)
struct promise *stream_send_at(struct prof_trace_name *site,
                               struct stream *stream, const void *data,
                               size_t bytes);

/* Ends the connection, as net_close() and net_abort() do. What is pending
 * fails. (stream) is invalid afterwards. */
void stream_close(struct stream *stream);
void stream_abort(struct stream *stream);

/* Whose it is. */
struct net_address stream_peer(const struct stream *stream);

#ifdef __cplusplus
}
#endif

#endif
