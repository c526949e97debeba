/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VSOCK_H
#define VSOCK_H

/*
 * Stream sockets over virtio packets, without the device: it may be any that
 * sends packets and hands received ones in. drivers/virtio_vsock.h has one.
 *
 *     vsock_open(&vsock, cid, put)
 *     vsock_listen(&vsock, port)       connections of others, or
 *     vsock_connect(&vsock, cid, port) one of ours
 *     vsock_take(&vsock, ...)          each received packet
 *     vsock_accept(), vsock_send(), vsock_receive(), vsock_close()
 *
 * A socket is a number from 0 to VSOCK_SOCKETS - 1. Each side advertises
 * how many bytes it has room for (credit), and the other never sends more, so
 * no data is dropped. Nothing is allocated, and nothing waits. What a peer does
 * wrong resets its own connection and is counted.
 *
 * Contexts: any, one at a time. An interrupt asks vsock_busy() before it calls
 * anything else here, or the device.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VSOCK_HOST 2u      /* CID of the host */
#define VSOCK_SOCKETS 8u   /* of all ports */
#define VSOCK_LISTENERS 4u /* ports that are listened to */
#define VSOCK_ROOM 1024u   /* received bytes that a socket holds */

enum vsock_op {
    VSOCK_OP_REQUEST = 1,
    VSOCK_OP_RESPONSE,
    VSOCK_OP_RST,
    VSOCK_OP_SHUTDOWN,
    VSOCK_OP_RW,
    VSOCK_OP_CREDIT_UPDATE,
    VSOCK_OP_CREDIT_REQUEST,
};

#define VSOCK_TYPE_STREAM 1u

/* flags of VSOCK_OP_SHUTDOWN: what the sender will not do any more */
#define VSOCK_SHUTDOWN_RECEIVE 1u
#define VSOCK_SHUTDOWN_SEND 2u
#define VSOCK_SHUTDOWN_BOTH (VSOCK_SHUTDOWN_RECEIVE | VSOCK_SHUTDOWN_SEND)

/* struct virtio_vsock_hdr, little endian, before the data of a packet. */
struct vsock_header {
    uint64_t src_cid;
    uint64_t dst_cid;
    uint32_t src_port;
    uint32_t dst_port;
    uint32_t len; /* bytes of data */
    uint16_t type;
    uint16_t op; /* enum vsock_op */
    uint32_t flags;
    uint32_t buf_alloc; /* the sender's room for data of this connection */
    uint32_t fwd_cnt;   /* bytes that have left this room so far */
} __attribute__((packed));

enum vsock_state {
    VSOCK_FREE,       /* no socket */
    VSOCK_CONNECTING, /* requested by us, not answered yet */
    VSOCK_OPEN,
    VSOCK_CLOSED,  /* by the peer, or refused; what came can be received */
    VSOCK_CLOSING, /* by us; the peer has not confirmed it */
};

/* Since vsock_open(). */
struct vsock_counts {
    uint32_t accepted;   /* connections of others */
    uint32_t connected;  /* connections of ours */
    uint32_t refused;    /* requests: nobody listens, or no socket is free */
    uint32_t violations; /* connections that we reset: data beyond the credit,
                            an operation that cannot be there */
    uint32_t strange;    /* packets to nobody, or shorter than they say */
    uint32_t resets;     /* of the transport, each of all connections */
    uint32_t unsent;     /* replies that the device had no room for */
};

struct vsock_socket {
    enum vsock_state state;
    bool accepted;      /* vsock_accept() has returned it, or it is ours */
    bool credit_due;    /* an update of the peer's credit could not be sent */
    bool asked;         /* for credit, and there was no answer yet */
    uint32_t shut;      /* VSOCK_SHUTDOWN_..., by the peer */
    uint32_t port;      /* our port */
    uint32_t peer_port; /* with peer_cid the other end */
    uint64_t peer_cid;
    uint32_t sent;           /* bytes, modulo 2^32, as all of these */
    uint32_t peer_forwarded; /* of these, by its last packet */
    uint32_t peer_room;      /* its buf_alloc */
    uint32_t received;       /* bytes that came */
    uint32_t forwarded;      /* bytes that vsock_receive() returned */
    uint32_t advertised;     /* of these, in the last packet sent */
    uint8_t room[VSOCK_ROOM];
};

/* Sends a packet: (header) and its len bytes of (data), which are copied.
 * False: there is no room at present. */
typedef bool vsock_put(const struct vsock_header *header, const void *data);

struct vsock {
    uint64_t cid; /* ours */
    vsock_put *put;
    uint32_t listeners[VSOCK_LISTENERS];
    unsigned listener_count;
    uint32_t next_port; /* for connections of ours */
    struct vsock_socket sockets[VSOCK_SOCKETS];
    struct vsock_counts counts;
    volatile unsigned uses; /* calls that run */
};

/* Begins with no sockets. (cid) is the guest's own. */
void vsock_open(struct vsock *vsock, uint64_t cid, vsock_put *put);

/* Whether a call for these sockets was interrupted, whoever made it. Contexts:
 * interrupt. */
bool vsock_busy(const struct vsock *vsock);

/* For what changes the sockets around these calls, as a device does: between
 * the two they are busy. Calls may be nested. */
void vsock_hold(struct vsock *vsock);
void vsock_release(struct vsock *vsock);

/* Accepts connections to (port) from now on. False: VSOCK_LISTENERS ports are
 * listened to already. */
bool vsock_listen(struct vsock *vsock, uint32_t port);

/* Returns a socket that others have connected to (port) and that was not
 * returned before, or -1. It must be closed by vsock_close(). */
int vsock_accept(struct vsock *vsock, uint32_t port);

/* Requests a connection to (port) of (cid). Returns the socket, which is
 * VSOCK_CONNECTING until the peer has answered, or -1: no socket is free, or
 * the device has no room. */
int vsock_connect(struct vsock *vsock, uint64_t cid, uint32_t port);

enum vsock_state vsock_state(const struct vsock *vsock, int socket);

/* Whether the peer takes what is sent: it is open, and has not said that it
 * receives no more. */
bool vsock_is_read(const struct vsock *vsock, int socket);

/*
 * Sends (bytes) bytes, all of them or none. False: the peer or the device has
 * no room for them at present, or the socket is not open. Where the peer has
 * none, it is asked for credit.
 */
bool vsock_send(struct vsock *vsock, int socket, const void *data,
                size_t bytes);

/* Bytes that the peer has not forwarded yet, as far as is known; asks it. For
 * who waits until all has arrived. */
uint32_t vsock_unread(struct vsock *vsock, int socket);

/* Bytes that vsock_receive() would return at most. */
size_t vsock_available(const struct vsock *vsock, int socket);

/* Byte (at) of these, without receiving it. */
uint8_t vsock_peek(const struct vsock *vsock, int socket, size_t at);

/* Receives up to (bytes) bytes into (to); returns how many. */
size_t vsock_receive(struct vsock *vsock, int socket, void *to, size_t bytes);

/*
 * Ends a connection, and gives the socket back: at once where the peer has
 * closed it, otherwise when it confirms that. False: the device has no room;
 * call again.
 */
bool vsock_close(struct vsock *vsock, int socket);

/*
 * Takes a packet from the device: its header, and what came after it, (bytes)
 * of (data). Sends one packet at most in reply: call it where (put) has room
 * for one.
 */
void vsock_take(struct vsock *vsock, const struct vsock_header *header,
                const uint8_t *data, size_t bytes);

/* Sends what could not be sent before. Call it now and then. */
void vsock_step(struct vsock *vsock);

/* The transport was interrupted (VIRTIO_VSOCK_EVENT_TRANSPORT_RESET): all
 * connections are closed; from now on we are (cid). Ports are still listened
 * to. */
void vsock_reset(struct vsock *vsock, uint64_t cid);

#endif
