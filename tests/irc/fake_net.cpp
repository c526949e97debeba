/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_net.h"

#include <kernel/loop.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/time.h>

namespace
{

std::vector<std::unique_ptr<net_conn>> connections;
std::vector<loop_timer *> timers;
const net_handlers *handlers;
void *listener;
bool (*due)(void *);
void (*hook)(void *);
void *hook_context;

/* A call that the contract forbids is the server's mistake. */
void must(bool condition, const char *what)
{
    if (condition)
        return;
    std::fprintf(stderr, "fake_net: %s\n", what);
    std::abort();
}

} // namespace

namespace fake
{

std::uint64_t now_s = 1000000;

net_conn *connect()
{
    connections.push_back(std::make_unique<net_conn>());
    net_conn *conn = connections.back().get();

    if (handlers->accept(conn, listener))
        return conn;
    connections.pop_back();
    return nullptr;
}

void turn()
{
    if (due(hook_context))
        hook(hook_context);
}

void send(net_conn *conn, const std::string &bytes)
{
    /* a copy of just that size, so that reading on is found */
    std::vector<char> copy(bytes.begin(), bytes.end());

    if (conn->open && !copy.empty())
        handlers->receive(conn, copy.data(), copy.size());
    turn();
}

void give_room(net_conn *conn, std::size_t bytes)
{
    conn->room += bytes;
    if (conn->open)
        handlers->room(conn);
    turn();
}

void end(net_conn *conn)
{
    if (conn->open)
        handlers->ended(conn);
    turn();
}

void lose(net_conn *conn, net_reason reason)
{
    if (conn->open) {
        conn->open = false;
        handlers->gone(conn, reason);
    }
    turn();
}

void tick()
{
    for (loop_timer *timer : timers)
        timer->callback(timer->context);
    turn();
}

void forget()
{
    for (const auto &conn : connections)
        must(!conn->open, "a connection was left open");
    connections.clear();
}

} // namespace fake

int net_start(void)
{
    return 0;
}

int net_listen(uint16_t, const net_handlers *their_handlers, void *context)
{
    handlers = their_handlers;
    listener = context;
    return 0;
}

void net_set_user(net_conn *conn, void *user)
{
    conn->user = user;
}

void *net_user(const net_conn *conn)
{
    return conn->user;
}

net_address net_peer(const net_conn *)
{
    return {0x0a000202, 40000};
}

const char *net_address_text(const net_address *, char text[NET_ADDRESS_TEXT])
{
    return std::strcpy(text, "10.0.2.2:40000");
}

const char *net_reason_text(net_reason reason)
{
    return reason == NET_RESET ? "reset" : "timeout";
}

size_t net_write(net_conn *conn, const void *bytes, size_t count)
{
    must(conn->open, "a write to a dead connection");
    if (count > conn->room)
        count = conn->room;
    conn->room -= count;
    conn->got.append(static_cast<const char *>(bytes), count);
    return count;
}

void net_close(net_conn *conn)
{
    must(conn->open, "a dead connection is closed");
    conn->open = false;
}

void net_abort(net_conn *conn)
{
    net_close(conn);
    conn->reset = true;
}

bool net_each_turn_at(prof_trace_name *, bool (*their_due)(void *),
                      void (*their_hook)(void *), void *context)
{
    due = their_due;
    hook = their_hook;
    hook_context = context;
    return true;
}

void loop_every_at(prof_trace_name *, loop_timer *timer, uint64_t,
                   loop_callback *callback, void *context)
{
    timer->callback = callback;
    timer->context = context;
    timers.push_back(timer);
}

/* In the place of the C library's, by the linker's --wrap. */
extern "C" int __wrap_gettimeofday(timeval *now, void *)
{
    now->tv_sec = static_cast<time_t>(fake::now_s);
    now->tv_usec = 0;
    return 0;
}
