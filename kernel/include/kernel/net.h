/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_H
#define KERNEL_NET_H

/*
 * TCP for services, in C or C++: lwIP on the event loop behind a few calls.
 *
 *     net_start();                         device, stack, address
 *     net_listen(6667, &handlers, context);
 *     return SERVICE_LOOP;                 the rest are callbacks
 *
 * A connection begins with `accept` and is the service's until one of two
 * things happens, exactly one of them and once:
 *
 *     the service calls net_close() or net_abort(): no callback of this
 *         connection comes any more, what was written is still sent (close)
 *         or thrown away (abort);
 *     `gone` is called: the stack has ended it, and says why.
 *
 * After either the pointer is dead. Both are allowed in any callback, that of
 * the connection itself included.
 *
 * What the service writes goes out at the end of the loop's turn, so that many
 * small writes share a segment. A service that works in slices calls
 * loop_poll() between them.
 *
 * Contexts: thread, all of it. Callbacks run in the loop's turn, with
 * interrupts on; they may use the heap and are never nested. Memory is taken
 * where connections begin and where bytes are written; a refusal is told as
 * the call says and never ends the image.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why a connection has ended without the service's doing. */
enum net_reason {
    NET_RESET = 1, /* the peer reset it */
    NET_TIMEOUT,   /* the peer does not answer any more */
};

/* A word for (reason), never NULL. */
const char *net_reason_text(enum net_reason reason);

/* IPv4, both in the machine's own byte order: 10.0.2.15 is 0x0a00020f. */
struct net_address {
    uint32_t ip;
    uint16_t port;
};

#define NET_ADDRESS_TEXT 22 /* "255.255.255.255:65535" and its end */

/* Writes (address) as "IP:PORT" into (text), and returns it. */
const char *net_address_text(const struct net_address *address,
                             char text[NET_ADDRESS_TEXT]);

#define NET_PIECE_MAX 1514 /* bytes that come at a time */

struct net_conn; /* one connection; the stack's memory */

/* What a listening service is told. A NULL is a callback not wanted. */
struct net_handlers {
    /*
     * Somebody has connected. False refuses: the peer is reset, and the
     * connection is dead when this returns. (context) is net_listen()'s.
     */
    bool (*accept)(struct net_conn *conn, void *context);

    /*
     * (count) bytes have come, 1 to NET_PIECE_MAX, borrowed: they are there
     * until this returns. Anything may be among them, NULs included. A pause
     * takes effect before the next piece.
     */
    void (*receive)(struct net_conn *conn, const void *bytes, size_t count);

    /*
     * The peer sends no more, but may still be reading. Comes once, after the
     * last bytes. Where it is NULL the connection is closed then.
     */
    void (*ended)(struct net_conn *conn);

    /* net_write() took less than it was given; now there is room again. */
    void (*room)(struct net_conn *conn);

    /* It is over; (conn) is dead when this returns. See above. */
    void (*gone)(struct net_conn *conn, enum net_reason reason);
};

/*
 * Finds the network device, starts the stack and gives it the address that
 * net.ip says; with net.ip=dhcp, the default, the address comes later.
 * Returns 0, or a negative code after a line on the console that says what is
 * missing. Once it has returned 0 it does so again.
 */
#define NET_ENODEVICE (-1) /* none, or one that wants what we have not */
#define NET_EMEMORY (-2)
int net_start(void);

/*
 * Listens on (port) at every address. (handlers) MUST stay where they are,
 * (context) is handed to accept. At most NET_BACKLOG connections are begun
 * but not yet accepted at any time; peers beyond that try again by themselves.
 * Returns 0, or a negative code: the port is taken, or there is no memory.
 */
#define NET_EPORT (-3)
#define NET_BACKLOG 255
int net_listen(uint16_t port, const struct net_handlers *handlers,
               void *context);

/* A pointer of the service's own with each connection; NULL at first. */
void net_set_user(struct net_conn *conn, void *user);
void *net_user(const struct net_conn *conn);

/* Who is at the other end. */
struct net_address net_peer(const struct net_conn *conn);

/*
 * Copies as many of the (count) bytes as fit, and returns how many that are.
 * Fewer than (count): `room` comes when it is worth trying again. To write a
 * piece whole or not at all, look at net_room() first.
 */
size_t net_write(struct net_conn *conn, const void *bytes, size_t count);

/*
 * Bytes that net_write() would take now: NET_ROOM_MAX where nothing is on its
 * way. Less memory than that may be free, so net_write()'s own answer is what
 * counts. Fewer than NET_ROOM_WORTH ask for `room`, which comes when there are
 * that many again: so a piece of up to that size is written whole, or later.
 */
#define NET_ROOM_MAX 46720
#define NET_ROOM_WORTH (NET_ROOM_MAX / 4)
size_t net_room(struct net_conn *conn);

/*
 * Back-pressure on the peer: while a connection is paused its bytes stay in
 * the stack, at most NET_WINDOW of them, and then the peer has to wait.
 * Resumed, they come through `receive` in the next turn. `ended` waits too.
 */
#define NET_WINDOW 23360
void net_pause(struct net_conn *conn);
void net_resume(struct net_conn *conn);

/*
 * Sends what was written, then ends the connection. What the peer still sends
 * is thrown away and not answered by a reset, which could overtake what was
 * written; a peer that neither reads on nor ends its side is reset after
 * NET_LINGER_S seconds.
 */
#define NET_LINGER_S 20
void net_close(struct net_conn *conn);

/* Ends it at once; the peer is told by a reset. */
void net_abort(struct net_conn *conn);

/* Our address; 0 as long as DHCP has given none. */
uint32_t net_ip(void);

/*
 * Calls (hook) with (context) at the end of each turn of the loop, after what
 * has come in was handed on and before what was written goes out. For work
 * that is gathered in a turn and done once. It stays for good; NET_HOOKS_MAX
 * of them, false beyond.
 */
#define NET_HOOKS_MAX 8
bool net_each_turn(void (*hook)(void *context), void *context);

/* What there is at this moment, and what was counted since the start; all 0
 * before it. */
struct net_stats {
    uint32_t connections;  /* of services, open now */
    uint32_t closing;      /* closed by services, not yet done with */
    uint32_t pcbs;         /* control blocks in use, listening ones too */
    uint32_t pcbs_waiting; /* of these, in TIME-WAIT: these end by time */
    uint32_t buffers;      /* packet buffers in use */
    uint32_t segments;     /* TCP segments in use */
    uint32_t heap_pieces;  /* pieces of the heap that the stack holds */
    uint32_t refusals;     /* times that memory was refused */
    uint64_t accepted;     /* connections since the start */
    uint64_t frames_in;    /* from the device */
    uint64_t frames_out;   /* to the device */
    uint64_t dropped_in;   /* frames that the stack had no buffer for */
    uint64_t dropped_out;  /* frames that the device had no room for */
    uint64_t damaged_in;   /* packets with a wrong checksum, length or form */
    uint64_t kicks;        /* times that the device was told of frames */
    uint64_t interrupts;   /* that the device has raised */
    bool offload;          /* it makes the checksums of TCP and UDP */
};
void net_stats(struct net_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
