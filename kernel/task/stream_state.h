/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TASK_STREAM_STATE_H
#define KERNEL_TASK_STREAM_STATE_H

/* A stream; shared by stream.c and stream_begin.c. */

#include "internal.h"

#include <kernel/stream.h>

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

/* Drops one of its references. */
void stream_release(struct stream *stream);

/* Callbacks of connections, by how they begin. */
extern const struct net_handlers stream_accepts, stream_connects;

/* ---- stream_begin.c */

/* A peer has connected; (context) is the listener. */
bool stream_accepted(struct net_conn *conn, void *context);

/* We have; (context) is the stream. */
bool stream_connected(struct net_conn *conn, void *context);

#endif
