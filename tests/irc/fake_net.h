/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAKE_NET_H
#define FAKE_NET_H

/*
 * The kernel's network, loop and clock as the IRC server sees them, made of
 * memory: tests and the fuzzer are the peers, and say what time it is.
 */

#include <kernel/net.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct net_conn {
    std::string got;            /* what the server has written */
    std::size_t room = 1 << 20; /* bytes that it may still write */
    void *user = nullptr;
    bool open = true;   /* the server may use it */
    bool reset = false; /* the server has aborted it */
};

namespace fake
{

extern std::uint64_t now_s; /* what gettimeofday() says */

/* A peer connects; nullptr: the server has refused it. The connection is kept
 * until forget(). */
net_conn *connect();

/* Bytes come in, and the turn ends. Nothing happens on one that is closed. */
void send(net_conn *conn, const std::string &bytes);

/* There is room for (bytes) more; calls the server's handler. */
void give_room(net_conn *conn, std::size_t bytes);

/* The peer sends no more; or it is gone. */
void end(net_conn *conn);
void lose(net_conn *conn, net_reason reason);

/* The server's timers are called, all of them, and the turn ends. */
void tick();

/* The loop's turn ends: what hooks there are run. */
void turn();

/* Forgets connections; the server must have closed them all. */
void forget();

} // namespace fake

#endif
