/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.2, 5.10.6; what Firecracker
 * does is in its docs/vsock.md.
 *
 * All counters of bytes wrap at 2^32. What a peer says of its credit is only
 * believed as far as it makes sense: one that claims to have forwarded more
 * than was sent has no room.
 */

#include "vsock.h"

#define FIRST_PORT 49152u               /* of connections that we request */
#define CREDIT_UPDATE (VSOCK_ROOM / 2u) /* bytes forwarded, not yet announced */

static void copy_bytes(uint8_t *to, const uint8_t *from, size_t bytes)
{
    while (bytes-- > 0)
        *to++ = *from++;
}

void vsock_open(struct vsock *vsock, uint64_t cid, vsock_put *put)
{
    uint8_t *bytes = (uint8_t *)vsock;

    for (size_t i = 0; i < sizeof *vsock; i++)
        bytes[i] = 0;
    vsock->cid = cid;
    vsock->put = put;
    vsock->next_port = FIRST_PORT;
}

/* An interrupt looks at the count: the compiler must not move what is in
 * between to before or after it. */
void vsock_hold(struct vsock *vsock)
{
    vsock->uses = vsock->uses + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void vsock_release(struct vsock *vsock)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    vsock->uses = vsock->uses - 1;
}

bool vsock_busy(const struct vsock *vsock)
{
    return vsock->uses != 0;
}

static struct vsock *held_by(struct vsock *vsock)
{
    vsock_hold(vsock);
    return vsock;
}

static void release(struct vsock *const *held)
{
    vsock_release(*held);
}

/* Until the function returns, whichever way. */
#define HOLD(vsock)                                                            \
    __attribute__((cleanup(release), unused)) struct vsock *const held =       \
        held_by(vsock)

/* NULL: there is no such socket. */
static struct vsock_socket *socket_of(const struct vsock *vsock, int number)
{
    if (number < 0 || (unsigned)number >= VSOCK_SOCKETS)
        return NULL;
    return (struct vsock_socket *)&vsock->sockets[number];
}

static bool is_live(const struct vsock_socket *socket)
{
    return socket->state == VSOCK_CONNECTING || socket->state == VSOCK_OPEN ||
           socket->state == VSOCK_CLOSING;
}

static int number_of(const struct vsock *vsock,
                     const struct vsock_socket *socket)
{
    return (int)(socket - vsock->sockets);
}

/* ---- packets of ours */

static bool send_op(struct vsock *vsock, struct vsock_socket *socket,
                    enum vsock_op op, uint32_t flags, const void *data,
                    uint32_t bytes)
{
    const struct vsock_header header = {
        .src_cid = vsock->cid,
        .dst_cid = socket->peer_cid,
        .src_port = socket->port,
        .dst_port = socket->peer_port,
        .len = bytes,
        .type = VSOCK_TYPE_STREAM,
        .op = (uint16_t)op,
        .flags = flags,
        .buf_alloc = VSOCK_ROOM,
        .fwd_cnt = socket->forwarded,
    };

    if (!vsock->put(&header, data))
        return false;
    socket->advertised = socket->forwarded;
    return true;
}

static bool send_control(struct vsock *vsock, struct vsock_socket *socket,
                         enum vsock_op op)
{
    return send_op(vsock, socket, op, 0, NULL, 0);
}

/* There is room for one packet, by the contract of vsock_take(). */
static void reply(struct vsock *vsock, struct vsock_socket *socket,
                  enum vsock_op op)
{
    if (!send_control(vsock, socket, op))
        vsock->counts.unsent++;
}

/* Answers a packet that belongs to no socket of ours. */
static void reply_rst(struct vsock *vsock, const struct vsock_header *header)
{
    const struct vsock_header rst = {
        .src_cid = vsock->cid,
        .dst_cid = header->src_cid,
        .src_port = header->dst_port,
        .dst_port = header->src_port,
        .type = header->type,
        .op = VSOCK_OP_RST,
    };

    if (header->op != VSOCK_OP_RST && !vsock->put(&rst, NULL))
        vsock->counts.unsent++;
}

/* ---- sockets */

static void clear(struct vsock_socket *socket)
{
    socket->state = VSOCK_FREE;
    socket->accepted = false;
}

/* A socket that waits for its peer's last word is taken if there is no other.
 * What that peer still sends is answered by a reset, as for any unknown one. */
static struct vsock_socket *find_free(struct vsock *vsock)
{
    struct vsock_socket *closing = NULL;

    for (unsigned i = 0; i < VSOCK_SOCKETS; i++) {
        if (vsock->sockets[i].state == VSOCK_FREE)
            return &vsock->sockets[i];
        if (vsock->sockets[i].state == VSOCK_CLOSING)
            closing = &vsock->sockets[i];
    }
    return closing;
}

static void begin_connection(struct vsock_socket *socket,
                             enum vsock_state state, uint32_t port,
                             uint64_t peer_cid, uint32_t peer_port)
{
    socket->state = state;
    socket->accepted = state == VSOCK_CONNECTING;
    socket->credit_due = socket->asked = false;
    socket->shut = 0;
    socket->port = port;
    socket->peer_cid = peer_cid;
    socket->peer_port = peer_port;
    socket->sent = socket->peer_forwarded = socket->peer_room = 0;
    socket->received = socket->forwarded = socket->advertised = 0;
}

bool vsock_listen(struct vsock *vsock, uint32_t port)
{
    HOLD(vsock);

    if (vsock->listener_count == VSOCK_LISTENERS)
        return false;
    vsock->listeners[vsock->listener_count++] = port;
    return true;
}

static bool is_listened_to(const struct vsock *vsock, uint32_t port)
{
    for (unsigned i = 0; i < vsock->listener_count; i++)
        if (vsock->listeners[i] == port)
            return true;
    return false;
}

int vsock_accept(struct vsock *vsock, uint32_t port)
{
    HOLD(vsock);

    for (unsigned i = 0; i < VSOCK_SOCKETS; i++) {
        struct vsock_socket *socket = &vsock->sockets[i];

        if (socket->state == VSOCK_FREE || socket->accepted ||
            socket->port != port)
            continue;
        socket->accepted = true;
        return (int)i;
    }
    return -1;
}

int vsock_connect(struct vsock *vsock, uint64_t cid, uint32_t port)
{
    HOLD(vsock);
    struct vsock_socket *socket = find_free(vsock);

    if (socket == NULL)
        return -1;
    begin_connection(socket, VSOCK_CONNECTING, vsock->next_port, cid, port);
    if (!send_control(vsock, socket, VSOCK_OP_REQUEST)) {
        clear(socket);
        return -1;
    }
    if (++vsock->next_port == 0)
        vsock->next_port = FIRST_PORT;
    return number_of(vsock, socket);
}

enum vsock_state vsock_state(const struct vsock *vsock, int number)
{
    const struct vsock_socket *socket = socket_of(vsock, number);

    return socket != NULL ? socket->state : VSOCK_FREE;
}

bool vsock_is_read(const struct vsock *vsock, int number)
{
    const struct vsock_socket *socket = socket_of(vsock, number);

    return socket != NULL && socket->state == VSOCK_OPEN &&
           (socket->shut & VSOCK_SHUTDOWN_RECEIVE) == 0;
}

/* Bytes that may be sent. */
static uint32_t credit(const struct vsock_socket *socket)
{
    uint32_t in_flight = socket->sent - socket->peer_forwarded;

    return in_flight < socket->peer_room ? socket->peer_room - in_flight : 0;
}

static void ask_for_credit(struct vsock *vsock, struct vsock_socket *socket)
{
    if (!socket->asked)
        socket->asked = send_control(vsock, socket, VSOCK_OP_CREDIT_REQUEST);
}

bool vsock_send(struct vsock *vsock, int number, const void *data, size_t bytes)
{
    HOLD(vsock);
    struct vsock_socket *socket = socket_of(vsock, number);

    if (bytes == 0 || !vsock_is_read(vsock, number))
        return false;
    if (bytes > credit(socket)) {
        ask_for_credit(vsock, socket);
        return false;
    }
    if (!send_op(vsock, socket, VSOCK_OP_RW, 0, data, (uint32_t)bytes))
        return false;
    socket->sent += (uint32_t)bytes;
    return true;
}

uint32_t vsock_unread(struct vsock *vsock, int number)
{
    HOLD(vsock);
    struct vsock_socket *socket = socket_of(vsock, number);

    if (!vsock_is_read(vsock, number) || socket->sent == socket->peer_forwarded)
        return 0;
    ask_for_credit(vsock, socket);
    return socket->sent - socket->peer_forwarded;
}

size_t vsock_available(const struct vsock *vsock, int number)
{
    const struct vsock_socket *socket = socket_of(vsock, number);

    return socket == NULL || socket->state == VSOCK_FREE
               ? 0
               : socket->received - socket->forwarded;
}

uint8_t vsock_peek(const struct vsock *vsock, int number, size_t at)
{
    const struct vsock_socket *socket = socket_of(vsock, number);

    return socket->room[(socket->forwarded + at) % VSOCK_ROOM];
}

size_t vsock_receive(struct vsock *vsock, int number, void *to, size_t bytes)
{
    HOLD(vsock);
    struct vsock_socket *socket = socket_of(vsock, number);
    size_t available = vsock_available(vsock, number);
    uint8_t *next = to;

    if (bytes > available)
        bytes = available;
    for (size_t i = 0; i < bytes; i++)
        next[i] = socket->room[socket->forwarded++ % VSOCK_ROOM];
    if (bytes > 0 && socket->state == VSOCK_OPEN &&
        socket->forwarded - socket->advertised >= CREDIT_UPDATE)
        socket->credit_due =
            !send_control(vsock, socket, VSOCK_OP_CREDIT_UPDATE);
    return bytes;
}

bool vsock_close(struct vsock *vsock, int number)
{
    HOLD(vsock);
    struct vsock_socket *socket = socket_of(vsock, number);

    if (socket == NULL)
        return true;
    if (socket->state == VSOCK_OPEN) {
        if (!send_op(vsock, socket, VSOCK_OP_SHUTDOWN, VSOCK_SHUTDOWN_BOTH,
                     NULL, 0))
            return false;
        socket->state = VSOCK_CLOSING;
        return true;
    }
    if (socket->state == VSOCK_CONNECTING &&
        !send_control(vsock, socket, VSOCK_OP_RST))
        return false;
    if (socket->state != VSOCK_CLOSING)
        clear(socket);
    return true;
}

void vsock_step(struct vsock *vsock)
{
    HOLD(vsock);

    for (unsigned i = 0; i < VSOCK_SOCKETS; i++) {
        struct vsock_socket *socket = &vsock->sockets[i];

        if (socket->state == VSOCK_OPEN && socket->credit_due)
            socket->credit_due =
                !send_control(vsock, socket, VSOCK_OP_CREDIT_UPDATE);
    }
}

/* ---- packets of the peer */

static struct vsock_socket *find_socket(struct vsock *vsock,
                                        const struct vsock_header *header)
{
    for (unsigned i = 0; i < VSOCK_SOCKETS; i++) {
        struct vsock_socket *socket = &vsock->sockets[i];

        if (is_live(socket) && socket->peer_cid == header->src_cid &&
            socket->peer_port == header->src_port &&
            socket->port == header->dst_port)
            return socket;
    }
    return NULL;
}

/* The connection is over; its owner still has the socket, if it has one. */
static void end(struct vsock_socket *socket)
{
    if (socket->state == VSOCK_CLOSING)
        clear(socket);
    else
        socket->state = VSOCK_CLOSED;
}

static void abort_connection(struct vsock *vsock, struct vsock_socket *socket)
{
    reply(vsock, socket, VSOCK_OP_RST);
    vsock->counts.violations++;
    end(socket);
}

static void take_request(struct vsock *vsock, const struct vsock_header *header)
{
    struct vsock_socket *socket = find_free(vsock);

    if (socket == NULL || !is_listened_to(vsock, header->dst_port)) {
        reply_rst(vsock, header);
        vsock->counts.refused++;
        return;
    }
    begin_connection(socket, VSOCK_OPEN, header->dst_port, header->src_cid,
                     header->src_port);
    socket->peer_room = header->buf_alloc;
    socket->peer_forwarded = header->fwd_cnt;
    if (!send_control(vsock, socket, VSOCK_OP_RESPONSE)) {
        vsock->counts.unsent++;
        clear(socket);
        return;
    }
    vsock->counts.accepted++;
}

static void take_data(struct vsock *vsock, struct vsock_socket *socket,
                      const uint8_t *data, uint32_t bytes)
{
    uint32_t held = socket->received - socket->forwarded;
    uint32_t at = socket->received % VSOCK_ROOM;
    uint32_t first = VSOCK_ROOM - at;

    if (socket->state == VSOCK_CLOSING) {
        socket->received += bytes; /* nobody reads it any more */
        socket->forwarded = socket->received;
        return;
    }
    if (socket->state != VSOCK_OPEN || bytes > VSOCK_ROOM - held ||
        (socket->shut & VSOCK_SHUTDOWN_SEND) != 0) {
        abort_connection(vsock, socket);
        return;
    }
    if (first > bytes)
        first = bytes;
    copy_bytes(socket->room + at, data, first);
    copy_bytes(socket->room, data + first, bytes - first);
    socket->received += bytes;
}

/* Both directions are over: the reset confirms it. */
static void take_shutdown(struct vsock *vsock, struct vsock_socket *socket,
                          uint32_t flags)
{
    if (socket->state == VSOCK_CONNECTING) {
        abort_connection(vsock, socket);
        return;
    }
    socket->shut |= flags & VSOCK_SHUTDOWN_BOTH;
    if (socket->shut != VSOCK_SHUTDOWN_BOTH)
        return;
    reply(vsock, socket, VSOCK_OP_RST);
    end(socket);
}

static void take_response(struct vsock *vsock, struct vsock_socket *socket)
{
    if (socket->state != VSOCK_CONNECTING) {
        abort_connection(vsock, socket);
        return;
    }
    socket->state = VSOCK_OPEN;
    vsock->counts.connected++;
}

static void take_op(struct vsock *vsock, struct vsock_socket *socket,
                    const struct vsock_header *header, const uint8_t *data)
{
    switch (header->op) {
    case VSOCK_OP_RESPONSE:
        take_response(vsock, socket);
        break;
    case VSOCK_OP_RST:
        end(socket);
        break;
    case VSOCK_OP_SHUTDOWN:
        take_shutdown(vsock, socket, header->flags);
        break;
    case VSOCK_OP_RW:
        take_data(vsock, socket, data, header->len);
        break;
    case VSOCK_OP_CREDIT_UPDATE:
        break;
    case VSOCK_OP_CREDIT_REQUEST:
        reply(vsock, socket, VSOCK_OP_CREDIT_UPDATE);
        break;
    default: /* a request, too: the connection is there already */
        abort_connection(vsock, socket);
        break;
    }
}

void vsock_take(struct vsock *vsock, const struct vsock_header *header,
                const uint8_t *data, size_t bytes)
{
    HOLD(vsock);
    struct vsock_socket *socket;

    if (header->dst_cid != vsock->cid || header->len > bytes) {
        vsock->counts.strange++;
        return;
    }
    if (header->type != VSOCK_TYPE_STREAM) {
        vsock->counts.strange++;
        reply_rst(vsock, header);
        return;
    }
    socket = find_socket(vsock, header);
    if (socket == NULL && header->op == VSOCK_OP_REQUEST) {
        take_request(vsock, header);
    } else if (socket == NULL) {
        vsock->counts.strange += header->op != VSOCK_OP_RST;
        reply_rst(vsock, header);
    } else {
        socket->peer_room = header->buf_alloc;
        socket->peer_forwarded = header->fwd_cnt;
        socket->asked = false;
        take_op(vsock, socket, header, data);
    }
}

void vsock_reset(struct vsock *vsock, uint64_t cid)
{
    HOLD(vsock);

    for (unsigned i = 0; i < VSOCK_SOCKETS; i++)
        if (is_live(&vsock->sockets[i]))
            end(&vsock->sockets[i]);
    vsock->cid = cid;
    vsock->counts.resets++;
}
