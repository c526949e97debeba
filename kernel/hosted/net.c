/* SPDX-License-Identifier: Apache-2.0 */

/*
 * <kernel/net.h> on sockets of Linux, on the loopback. Handlers are called in
 * the loop's turns, as over lwIP: received data first, then the hooks of the
 * turn, then what was written is sent, and what was closed ends.
 *
 * What a service has written is in a buffer of NET_ROOM_MAX bytes of its
 * connection until the socket takes it; Linux holds more of it. What was
 * received is not read from the socket while the connection is paused.
 */

#include "idle.h"

#include "../net/calls.h"
#include "../net/net.h"
#include "../net/peers.h"
#include "../options.h"

#include <arpa/inet.h>
#include <errno.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/net.h>
#include <kernel/net_link.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <prof/loop.h>
#include <prof/transport.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define OTHER_FILES 64             /* besides connections */
#define MESSAGE_NS (10 * NS_PER_S) /* between messages about refused peers */
#define LINGER_NS (NET_LINGER_S * NS_PER_S)

enum state {
    CONN_CONNECTING,
    CONN_OPEN,
    CONN_CLOSE,  /* closed by the service: sends what is left, then FIN */
    CONN_LINGER, /* closed on our side, not on the peer's */
    CONN_ABORT,  /* to be reset */
    CONN_GONE,   /* the peer or Linux has ended it */
};

/* A file of the event loop's set: a listener or a connection. */
struct watched {
    int file;
    bool listens;
};

struct listener {
    struct watched watched; /* first */
    struct listener *next;
    const struct net_handlers *handlers;
    void *context;
};

struct net_conn {
    struct watched watched; /* first */
    enum state state;
    enum net_reason reason; /* of CONN_GONE */
    const struct net_handlers *handlers;
    struct net_address peer;
    struct net_peer_address *address; /* counts the connections of peer.ip */
    void *user;
    struct net_conn *next, **link; /* all connections */
    uint32_t waits_for;            /* EPOLL... that it is in the set with */
    uint64_t linger_until_ns;
    bool paused;
    bool want_room;    /* a write was incomplete */
    bool ended;        /* the peer has closed its side */
    bool end_reported; /* `ended` was called */
    size_t unsent;
    char buffer[NET_ROOM_MAX]; /* the (unsent) bytes */
};

struct hook {
    struct prof_trace_name *site;
    bool (*due)(void *context);
    void (*call)(void *context);
    void *context;
};

static struct net_conn *connections;
static struct listener *listeners;
static struct net_stats counts;
static struct hook hooks[NET_HOOKS_MAX];
static unsigned hook_count;
static uint32_t per_address = NET_PER_ADDRESS, own_ip = INADDR_LOOPBACK;
static bool started, changed; /* some connection has something to be done */

/* ---- options, and what only the image's network has */

/* An address of the loopback, so that several processes can have one port. */
static bool set_ip(const char *value)
{
    struct in_addr address;

    if (inet_pton(AF_INET, value, &address) != 1 ||
        ntohl(address.s_addr) >> 24 != IN_LOOPBACKNET)
        return false;
    own_ip = ntohl(address.s_addr);
    return true;
}

bool net_option(const char *key, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);

    if (strcmp(key, "net.ip") == 0)
        return set_ip(value);
    if (strcmp(key, "net.per_address") != 0 || *value < '1' || *value > '9' ||
        *end != '\0' || number > NET_CONNECTIONS)
        return false;
    per_address = (uint32_t)number;
    return true;
}

/* There are no frames. */
void net_link_set(const struct net_link *link)
{
    (void)link;
}

void *net_link_room(void)
{
    return NULL;
}

void net_link_put(size_t bytes)
{
    (void)bytes;
}

bool net_link_each(void)
{
    return false;
}

bool net_link_bell(struct net_bell *bell)
{
    (void)bell;
    return false;
}

void *net_port_alloc(size_t bytes)
{
    return malloc(bytes);
}

void *net_port_alloc_zeroed(size_t count, size_t bytes)
{
    return calloc(count, bytes);
}

void net_port_free(void *piece)
{
    free(piece);
}

const char *net_reason_text(enum net_reason reason)
{
    return reason == NET_TIMEOUT ? "the peer does not answer"
                                 : "reset by the peer";
}

const char *net_address_text(const struct net_address *address,
                             char text[NET_ADDRESS_TEXT])
{
    snprintf(text, NET_ADDRESS_TEXT, "%u.%u.%u.%u:%u", address->ip >> 24,
             address->ip >> 16 & 255, address->ip >> 8 & 255, address->ip & 255,
             address->port);
    return text;
}

uint32_t net_ip(void)
{
    return started ? own_ip : 0;
}

/* ---- making and freeing */

/* After the service has closed it, what is received is discarded. */
static bool may_receive(const struct net_conn *conn)
{
    return !conn->ended &&
           ((conn->state == CONN_OPEN && !conn->paused) ||
            conn->state == CONN_CLOSE || conn->state == CONN_LINGER);
}

/* What its file is waited for: level-triggered, so that nothing is lost. */
static void wait_for(struct net_conn *conn, uint32_t events)
{
    struct epoll_event wanted = {.events = events, .data.ptr = conn};

    if (conn->waits_for == events)
        return;
    conn->waits_for = events;
    (void)epoll_ctl(hosted_files(), EPOLL_CTL_MOD, conn->watched.file, &wanted);
}

static void wait_again(struct net_conn *conn)
{
    uint32_t events = 0;

    if (conn->state == CONN_CONNECTING || conn->unsent != 0)
        events |= EPOLLOUT;
    if (may_receive(conn))
        events |= EPOLLIN;
    wait_for(conn, events);
}

static struct net_conn *make(int file, const struct sockaddr_in *peer,
                             const struct net_handlers *handlers)
{
    struct net_conn *conn = malloc(sizeof *conn);
    struct epoll_event wanted = {.events = EPOLLIN};
    const int on = 1;

    if (conn == NULL)
        return NULL;
    memset(conn, 0, offsetof(struct net_conn, buffer));
    conn->watched.file = file;
    conn->state = CONN_OPEN;
    conn->handlers = handlers;
    conn->peer = (struct net_address){ntohl(peer->sin_addr.s_addr),
                                      ntohs(peer->sin_port)};
    conn->address = net_peer_begin(conn->peer.ip);
    conn->waits_for = EPOLLIN;
    /* writes are collected until the end of the turn, as over lwIP */
    (void)setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    wanted.data.ptr = conn;
    if (conn->address == NULL ||
        epoll_ctl(hosted_files(), EPOLL_CTL_ADD, file, &wanted) != 0) {
        if (conn->address != NULL)
            net_peer_end(conn->address);
        free(conn);
        return NULL;
    }
    conn->next = connections;
    conn->link = &connections;
    if (connections != NULL)
        connections->link = &conn->next;
    connections = conn;
    counts.connections++;
    return conn;
}

static void reset_socket(int file)
{
    const struct linger reset = {.l_onoff = 1};

    (void)setsockopt(file, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(file);
}

/* Without files left, who connects has to wait until one is free: their sockets
 * are ready all the time, and the loop would not sleep. */
static void listen_again(bool again)
{
    static bool listening = true;

    if (listening == again)
        return;
    listening = again;
    for (struct listener *each = listeners; each != NULL; each = each->next) {
        struct epoll_event wanted = {.events = again ? EPOLLIN : 0,
                                     .data.ptr = each};

        (void)epoll_ctl(hosted_files(), EPOLL_CTL_MOD, each->watched.file,
                        &wanted);
    }
}

/* Whether it is the service's, which has neither closed it nor been called for
 * its end. */
static bool is_owned(const struct net_conn *conn)
{
    return conn->state == CONN_OPEN || conn->state == CONN_CONNECTING ||
           conn->state == CONN_GONE;
}

/* (conn) is invalid afterwards. */
static void free_conn(struct net_conn *conn, bool reset)
{
    *conn->link = conn->next;
    if (conn->next != NULL)
        conn->next->link = conn->link;
    if (is_owned(conn))
        counts.connections--;
    else
        counts.closing--;
    net_peer_end(conn->address);
    if (reset)
        reset_socket(conn->watched.file);
    else
        close(conn->watched.file);
    free(conn);
    listen_again(true);
}

/* ---- accepting and connecting */

/* Too many connections of one address: a few get a message, and all others are
 * reset. */
static void refuse(struct net_conn *conn)
{
    static uint64_t next_message_ns;
    const char *text = conn->handlers->refusal;
    char name[NET_ADDRESS_TEXT];

    counts.refused++;
    if (clock_ns() >= next_message_ns) {
        next_message_ns = clock_ns() + MESSAGE_NS;
        console_line("net: %s refused: more than %u connections from one "
                     "address (net.per_address)",
                     net_address_text(&conn->peer, name),
                     (unsigned)per_address);
    }
    if (text == NULL ||
        conn->address->connections > per_address + NET_REFUSALS) {
        free_conn(conn, true);
        return;
    }
    (void)net_write(conn, text, strlen(text));
    net_close(conn);
}

static void accept_one(const struct listener *listener, int file,
                       const struct sockaddr_in *peer)
{
    struct net_conn *conn = NULL;

    if (counts.connections + counts.closing < NET_CONNECTIONS)
        conn = make(file, peer, listener->handlers);
    if (conn == NULL) {
        counts.refusals++;
        reset_socket(file);
    } else if (conn->address->connections > per_address) {
        refuse(conn);
    } else {
        counts.accepted++;
        if (!net_call_accept(conn->handlers, conn, listener->context))
            free_conn(conn, true);
    }
}

static void accept_all(const struct listener *listener)
{
    for (unsigned i = 0; i < NET_BACKLOG; i++) {
        struct sockaddr_in peer;
        socklen_t bytes = sizeof peer;
        int file = accept4(listener->watched.file, (struct sockaddr *)&peer,
                           &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (file < 0 && (errno == EMFILE || errno == ENFILE))
            listen_again(false);
        if (file < 0)
            return;
        accept_one(listener, file, &peer);
    }
}

int net_listen(uint16_t port, const struct net_handlers *handlers,
               void *context)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(own_ip)};
    const int on = 1;
    int file = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct listener *listener = malloc(sizeof *listener);
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = listener};
    int error = NET_EMEMORY;

    if (file >= 0 && listener != NULL) {
        (void)setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        *listener =
            (struct listener){{file, true}, listeners, handlers, context};
        if (bind(file, (const struct sockaddr *)&at, sizeof at) != 0)
            error = NET_EPORT;
        else if (listen(file, NET_BACKLOG) == 0 &&
                 epoll_ctl(hosted_files(), EPOLL_CTL_ADD, file, &wanted) == 0) {
            listeners = listener;
            return 0;
        }
    }
    if (file >= 0)
        close(file);
    free(listener);
    return error;
}

static struct sockaddr_in address_of(const struct net_address *address)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons(address->port),
                                .sin_addr.s_addr = htonl(address->ip)};
}

struct net_conn *net_connect(const struct net_address *address,
                             const struct net_handlers *handlers, void *user)
{
    const struct sockaddr_in at = address_of(address);
    int file = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct net_conn *conn = NULL;

    if (file < 0)
        return NULL;
    if (connect(file, (const struct sockaddr *)&at, sizeof at) == 0 ||
        errno == EINPROGRESS)
        conn = make(file, &at, handlers);
    if (conn == NULL) {
        close(file);
        return NULL;
    }
    conn->user = user;
    conn->state = CONN_CONNECTING;
    wait_again(conn);
    return conn;
}

bool net_send_datagram(const struct net_address *address, const void *bytes,
                       size_t count)
{
    static int file = -1;
    const struct sockaddr_in to = address_of(address);

    if (file < 0)
        file = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return count <= NET_DATAGRAM_MAX &&
           sendto(file, bytes, count, 0, (const struct sockaddr *)&to,
                  sizeof to) == (ssize_t)count;
}

/* ---- sending and receiving */

static void set_gone(struct net_conn *conn, int error)
{
    changed = true;
    conn->reason = error == ETIMEDOUT ? NET_TIMEOUT : NET_RESET;
    conn->state = is_owned(conn) ? CONN_GONE : CONN_ABORT;
    conn->unsent = 0;
}

static void send_unsent(struct net_conn *conn)
{
    ssize_t sent;

    while (conn->unsent != 0) {
        sent =
            send(conn->watched.file, conn->buffer, conn->unsent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (sent < 0) {
            set_gone(conn, errno);
            return;
        }
        conn->unsent -= (size_t)sent;
        conn->linger_until_ns = clock_ns() + LINGER_NS; /* it reads */
        memmove(conn->buffer, conn->buffer + sent, conn->unsent);
    }
    wait_again(conn);
}

/* At most a window's worth in a turn, so that all have their turn. */
static void receive_bytes(struct net_conn *conn)
{
    char piece[NET_PIECE_MAX];

    for (size_t sum = 0; sum < NET_WINDOW && may_receive(conn);) {
        ssize_t got = recv(conn->watched.file, piece, sizeof piece, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                set_gone(conn, errno);
            return;
        }
        changed = true;
        if (got == 0) {
            conn->ended = true;
            return;
        }
        sum += (size_t)got;
        if (conn->state == CONN_OPEN)
            net_call_receive(conn->handlers, conn, piece, (size_t)got);
    }
}

static void report_end(struct net_conn *conn)
{
    if (conn->state != CONN_OPEN || conn->paused || !conn->ended ||
        conn->end_reported)
        return;
    conn->end_reported = true;
    if (conn->handlers->ended != NULL)
        net_call_ended(conn->handlers, conn);
    else
        net_close(conn);
}

static void finish_connecting(struct net_conn *conn)
{
    int error = 0;
    socklen_t bytes = sizeof error;

    (void)getsockopt(conn->watched.file, SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0) {
        set_gone(conn, error);
        return;
    }
    conn->state = CONN_OPEN;
    changed = true;
    if (!net_call_accept(conn->handlers, conn, conn->user))
        net_abort(conn);
}

static void serve_events(struct net_conn *conn, uint32_t events)
{
    if (conn->state == CONN_CONNECTING) {
        finish_connecting(conn);
        return;
    }
    if ((events & EPOLLOUT) != 0)
        changed = true;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
        receive_bytes(conn);
    if ((events & (EPOLLHUP | EPOLLERR)) != 0 && !may_receive(conn) &&
        conn->state != CONN_GONE)
        set_gone(conn, 0);
}

struct served {
    struct net_conn *conn;
    uint32_t events;
};

static void serve_profiler(void *context)
{
    const struct served *served = context;

    serve_events(served->conn, served->events);
}

static void serve(struct net_conn *conn, uint32_t events)
{
    struct served served = {conn, events};

    if (conn->handlers->profiler)
        prof_transport_work(serve_profiler, &served);
    else
        serve_events(conn, events);
}

/* ---- turns of the loop */

static void offer_room(struct net_conn *conn)
{
    if (conn->state != CONN_OPEN || !conn->want_room ||
        NET_ROOM_MAX - conn->unsent < NET_ROOM_WORTH)
        return;
    conn->want_room = false;
    net_call_room(conn->handlers, conn);
}

static void close_ours(struct net_conn *conn)
{
    conn->state = CONN_LINGER;
    (void)shutdown(conn->watched.file, SHUT_WR);
}

/* What the turn has left to do for (conn), which may be freed by it. */
static void complete(void *context)
{
    struct net_conn *conn = context;

    if (conn->state == CONN_CONNECTING)
        return;
    if (conn->state != CONN_GONE && conn->state != CONN_ABORT)
        send_unsent(conn);
    if (conn->state == CONN_CLOSE && conn->unsent == 0)
        close_ours(conn);
    if (conn->state == CONN_GONE) {
        changed = true; /* hooks of the next turn may have to act on it */
        net_call_gone(conn->handlers, conn, conn->reason);
        free_conn(conn, true);
    } else if (conn->state == CONN_ABORT) {
        free_conn(conn, true);
    } else if (conn->state == CONN_LINGER && conn->ended) {
        free_conn(conn, false);
    } else if ((conn->state == CONN_CLOSE || conn->state == CONN_LINGER) &&
               clock_ns() >= conn->linger_until_ns) {
        free_conn(conn, true);
    } else {
        wait_again(conn);
    }
}

static void call_hooks(void)
{
    struct prof_loop_frame frame;

    for (unsigned i = 0; i < hook_count; i++) {
        if (!hooks[i].due(hooks[i].context))
            continue;
        prof_loop_begin(&frame, hooks[i].site);
        hooks[i].call(hooks[i].context);
        prof_loop_leave(&frame);
    }
}

static struct epoll_event events[EVENTS_MAX];
static int event_count; /* read, and not served yet */

static bool has_events(void)
{
    if (event_count == 0)
        event_count = epoll_wait(hosted_files(), events, EVENTS_MAX, 0);
    if (event_count < 0)
        event_count = 0;
    return changed || event_count != 0;
}

/* Without an event nor a call of the service's there is nothing to do, but to
 * end what has lingered. */
static void take_turn(void)
{
    struct net_conn *next;

    (void)has_events();
    for (int i = 0; i < event_count; i++) {
        struct watched *watched = events[i].data.ptr;

        if (watched == NULL)
            continue; /* the disk's */
        if (watched->listens)
            accept_all((struct listener *)watched);
        else
            serve((struct net_conn *)watched, events[i].events);
    }
    event_count = 0;
    for (struct net_conn *conn = changed ? connections : NULL; conn != NULL;
         conn = conn->next) {
        offer_room(conn);
        report_end(conn);
    }
    call_hooks();
    if (!changed)
        return;
    changed = false;
    for (struct net_conn *conn = connections; conn != NULL; conn = next) {
        next = conn->next;
        if (conn->handlers->profiler)
            prof_transport_work(complete, conn);
        else
            complete(conn);
    }
}

static void look_for_lingering(void *unused)
{
    (void)unused;
    changed = true;
}

/* A connection is a file, and there may be more of these than a shell usually
 * allows; fewer connections are then accepted. */
static void allow_files(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    if (files.rlim_cur < NET_CONNECTIONS + OTHER_FILES)
        files.rlim_cur = NET_CONNECTIONS + OTHER_FILES;
    if (files.rlim_cur > files.rlim_max)
        files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

int net_start(void)
{
    static PROF_TRACE_SITE(site, "network");
    static struct loop_source source = {
        .waiting = has_events, .turn = take_turn, .site = &site};
    static struct loop_timer timer;

    if (started)
        return 0;
    started = true;
    allow_files();
    loop_add(&source);
    loop_every(&timer, NS_PER_S, look_for_lingering, NULL);
    return 0;
}

/* ---- before the image ends */

static bool waits_for(const struct net_conn *conn, short what)
{
    struct pollfd file = {.fd = conn->watched.file, .events = what};

    return poll(&file, 1, NET_FLUSH_S * 1000) > 0;
}

/* What the socket has, the peer gets after the end of the process, too. */
bool net_flush(struct net_conn *conn)
{
    const uint64_t until_ns = clock_real_ns() + NET_FLUSH_ALL_S * NS_PER_S;

    while (conn->state == CONN_OPEN || conn->state == CONN_CLOSE) {
        send_unsent(conn);
        if (conn->unsent == 0)
            break;
        if (!waits_for(conn, POLLOUT) || clock_real_ns() >= until_ns)
            return false;
    }
    return true;
}

/* Unless all that it sent is read, the peer would be reset. */
void net_finish(struct net_conn *conn)
{
    char piece[NET_PIECE_MAX];
    uint64_t until_ns;

    net_close(conn);
    if (!net_flush(conn) || conn->state != CONN_CLOSE)
        return;
    close_ours(conn);
    until_ns = clock_real_ns() + NET_FLUSH_S * NS_PER_S;
    while (clock_real_ns() < until_ns && waits_for(conn, POLLIN) &&
           recv(conn->watched.file, piece, sizeof piece, 0) > 0)
        continue;
}

/* ---- calls of services */

void net_set_user(struct net_conn *conn, void *user)
{
    conn->user = user;
}

void *net_user(const struct net_conn *conn)
{
    return conn->user;
}

struct net_address net_peer(const struct net_conn *conn)
{
    return conn->peer;
}

size_t net_room(struct net_conn *conn)
{
    size_t room = NET_ROOM_MAX - conn->unsent;

    if (room < NET_ROOM_WORTH)
        conn->want_room = true;
    return room;
}

size_t net_write(struct net_conn *conn, const void *bytes, size_t count)
{
    size_t room = NET_ROOM_MAX - conn->unsent;
    size_t taken = count < room ? count : room;

    if (taken != 0)
        memcpy(conn->buffer + conn->unsent, bytes, taken);
    conn->unsent += taken;
    if (taken < count)
        conn->want_room = true;
    changed = true;
    return taken;
}

void net_pause(struct net_conn *conn)
{
    conn->paused = true;
    changed = true;
}

void net_resume(struct net_conn *conn)
{
    conn->paused = false;
    changed = true;
}

static void leave_state(struct net_conn *conn, enum state state)
{
    if (is_owned(conn)) {
        counts.connections--;
        counts.closing++;
    }
    conn->state = state;
    changed = true;
}

/* What has ended meanwhile cannot be closed any more. */
void net_close(struct net_conn *conn)
{
    bool open = conn->state == CONN_OPEN;

    conn->linger_until_ns = clock_ns() + LINGER_NS;
    leave_state(conn, open ? CONN_CLOSE : CONN_ABORT);
}

void net_abort(struct net_conn *conn)
{
    leave_state(conn, CONN_ABORT);
}

bool net_each_turn_at(struct prof_trace_name *site, bool (*due)(void *context),
                      void (*hook)(void *context), void *context)
{
    if (hook_count == NET_HOOKS_MAX)
        return false;
    hooks[hook_count++] = (struct hook){site, due, hook, context};
    return true;
}

void net_stats(struct net_stats *stats)
{
    *stats = counts;
}
