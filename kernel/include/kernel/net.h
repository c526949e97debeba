/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_H
#define KERNEL_NET_H

/*
 * TCP for services in C or C++: lwIP on the event loop.
 *
 *     net_start();                         device, stack, address
 *     net_listen(6667, &handlers, context);
 *     return SERVICE_LOOP;                 the rest happens in callbacks
 *
 * A connection begins with `accept` and belongs to the service until exactly
 * one of these events:
 *
 *     The service calls net_close() or net_abort(). No callbacks follow. Data
 *         written before are sent (close) or discarded (abort).
 *     `gone` is called: the stack has ended the connection.
 *
 * The pointer to the connection is invalid afterwards. The service may close or
 * abort in any callback, including those of the same connection.
 *
 * Data are sent at the end of the loop's turn, so that small writes share a
 * segment. A service that works in slices calls loop_poll() between them.
 *
 * Contexts: thread. Callbacks run in the loop's turn with interrupts on; they
 * may use the heap and are never nested. Accepting and writing allocate memory;
 * if that fails, the call returns an error as described below.
 */

#include <kernel/loop.h>
#include <prof/site.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why the stack ended a connection. */
enum net_reason {
    NET_RESET = 1, /* the peer reset it */
    NET_TIMEOUT,   /* the peer no longer responds */
};

/* Returns the text of (reason), never NULL. */
const char *net_reason_text(enum net_reason reason);

/* IPv4, both in host byte order: 10.0.2.15 is 0x0a00020f. */
struct net_address {
    uint32_t ip;
    uint16_t port;
};

#define NET_ADDRESS_TEXT 22 /* "255.255.255.255:65535" with its NUL */

/* Writes (address) as "IP:PORT" into (text), and returns it. */
const char *net_address_text(const struct net_address *address,
                             char text[NET_ADDRESS_TEXT]);

#define NET_PIECE_MAX 1514 /* bytes per call of `receive` */

struct net_conn; /* a connection, owned by the stack */

/*
 * Sites of a service's handlers, by which <prof/loop.h> reports their times.
 *
 *     static struct net_sites sites = NET_SITES("irc");
 */
struct net_sites {
    struct prof_trace_name accept, receive, ended, room, gone;
};
#define NET_SITE(text)                                                         \
    {                                                                          \
        text, __FILE__, __LINE__, 0, 0                                         \
    }
#define NET_SITES(service)                                                     \
    {                                                                          \
        NET_SITE(service " accept"), NET_SITE(service " receive"),             \
            NET_SITE(service " ended"), NET_SITE(service " room"),             \
            NET_SITE(service " gone")                                          \
    }

/* Callbacks of a listening service; any may be NULL. */
struct net_handlers {
    /*
     * A peer has connected. (context) is the argument of net_listen(). If this
     * returns false, the connection is reset, and (conn) becomes invalid.
     */
    bool (*accept)(struct net_conn *conn, void *context);

    /*
     * (count) bytes were received, 1 to NET_PIECE_MAX, of any values. They are
     * valid until this returns. net_pause() takes effect before the next call.
     */
    void (*receive)(struct net_conn *conn, const void *bytes, size_t count);

    /*
     * The peer has ended its side, but may still be reading. Called once, after
     * the last bytes. NULL: the connection is then closed.
     */
    void (*ended)(struct net_conn *conn);

    /* There is room again after net_write() has accepted too little. */
    void (*room)(struct net_conn *conn);

    /* The connection has ended (see above). (conn) is invalid when this
     * returns. */
    void (*gone)(struct net_conn *conn, enum net_reason reason);

    /*
     * Text for a peer that is refused because its address has too many
     * connections. `accept` is not called for it. NULL: the connection is reset
     * without a text.
     */
    const char *refusal;

    struct net_sites *sites; /* NULL: its time counts for the network */

    /* The stack's work for these connections counts as the profiler's own
     * (<prof/transport.h>). Applies to one port: the last one that listens with
     * this flag. */
    bool profiler;
};

/*
 * Limits of connections. NET_CONNECTIONS is the total, including those in
 * TIME-WAIT, of which the oldest is dropped for a new connection. One address
 * may have net.per_address= of them, by default NET_PER_ADDRESS, so that no
 * single peer can lock out all others. Of further connections at most
 * NET_REFUSALS at a time are sent the refusal; the others are reset. Refused
 * connections are counted, and reported on the console at most every ten
 * seconds.
 */
#define NET_CONNECTIONS 2048
#define NET_PER_ADDRESS 1024
#define NET_REFUSALS 16

/*
 * Finds the network device, starts the stack and assigns the address of net.ip.
 * With net.ip=dhcp, the default, the address is assigned later. Returns 0, or a
 * negative code after printing the reason. Once it has returned 0, later calls
 * have no effect and return 0.
 */
#define NET_ENODEVICE (-1) /* none, or one that is not supported */
#define NET_EMEMORY (-2)
int net_start(void);

/*
 * Listens on (port) at all addresses. (handlers) MUST remain valid; (context)
 * is passed to accept(). At most NET_BACKLOG connections wait to be accepted;
 * further peers retry by themselves. Returns 0, NET_EPORT (the port is in use)
 * or NET_EMEMORY.
 */
#define NET_EPORT (-3)
#define NET_BACKLOG 255
int net_listen(uint16_t port, const struct net_handlers *handlers,
               void *context);

/*
 * Connects to (address). Returns the connection, which belongs to the service
 * at once, with the user pointer (user), and may be written to; NULL if there
 * is no memory or no route. When it is established, `accept` is called with
 * (user) as its context; if that fails, `gone` is called.
 */
struct net_conn *net_connect(const struct net_address *address,
                             const struct net_handlers *handlers, void *user);

/* Sends (count) bytes, up to NET_DATAGRAM_MAX, as a UDP datagram from a port of
 * the stack's choice. Returns false if there are too many bytes, no memory, no
 * route, or no room in the device. */
#define NET_DATAGRAM_MAX 1472
bool net_send_datagram(const struct net_address *address, const void *bytes,
                       size_t count);

/*
 * Sends all data written to (conn) and waits until the peer has received them.
 * To be called before the image ends, outside callbacks. Meanwhile only (conn)
 * is served; its `room` and `gone` may be called. Returns false if the peer has
 * received nothing for NET_FLUSH_S seconds, or not all in NET_FLUSH_ALL_S.
 */
#define NET_FLUSH_S 5
#define NET_FLUSH_ALL_S 60
bool net_flush(struct net_conn *conn);

/* Like net_close(), and waits until the peer has closed its side, too, and so
 * has received everything; no longer than net_flush() does. Does not wait in a
 * callback. */
void net_finish(struct net_conn *conn);

/* Set and return the user pointer of a connection, which is initially NULL. */
void net_set_user(struct net_conn *conn, void *user);
void *net_user(const struct net_conn *conn);

/* Returns the peer's address. */
struct net_address net_peer(const struct net_conn *conn);

/*
 * Copies as many of the (count) bytes as fit, to be sent, and returns their
 * number. If it is less than (count), `room` is called later. To write a piece
 * whole or not at all, check net_room() first.
 */
size_t net_write(struct net_conn *conn, const void *bytes, size_t count);

/*
 * Returns the number of bytes that net_write() would accept now, NET_ROOM_MAX
 * if no data are in flight. net_write() may accept less if memory is short. If
 * the result is below NET_ROOM_WORTH, `room` is called when it is that much
 * again, so that pieces of up to that size can always be written whole.
 */
#define NET_ROOM_MAX 46720
#define NET_ROOM_WORTH (NET_ROOM_MAX / 4)
size_t net_room(struct net_conn *conn);

/*
 * Flow control. While a connection is paused, the stack buffers up to
 * NET_WINDOW received bytes; then the peer has to wait. After net_resume() the
 * bytes are passed to `receive` in the next turn. `ended` is delayed, too.
 */
#define NET_WINDOW 23360
void net_pause(struct net_conn *conn);
void net_resume(struct net_conn *conn);

/*
 * Sends pending data and closes the connection. Data received later are
 * discarded, but not answered by a reset, which could make the peer lose unread
 * data. A peer that neither reads nor closes is reset after NET_LINGER_S
 * seconds, not counting the time in which a lost segment waits for one of its
 * first NET_LINGER_RETRIES retransmissions, each of which takes twice as long
 * as the previous one.
 */
#define NET_LINGER_S 20
#define NET_LINGER_RETRIES 3
void net_close(struct net_conn *conn);

/* Resets the connection at once. */
void net_abort(struct net_conn *conn);

/* Returns the image's own IPv4 address; 0 until DHCP has assigned one. */
uint32_t net_ip(void);

/*
 * Adds a hook for work that should be done once per turn of the loop. At the
 * end of each turn, after received data are delivered and before written data
 * are sent, (due) is called with (context), and, if it returns true, (hook).
 * (due) only tests for work, as it has no site in the statistics of the loop.
 * Hooks cannot be removed. Returns false if there are NET_HOOKS_MAX already.
 */
#define NET_HOOKS_MAX 8
#define net_each_turn(due, hook, context)                                      \
    net_each_turn_at(LOOP_HERE(#hook), due, hook, context)
bool net_each_turn_at(struct prof_trace_name *site, bool (*due)(void *context),
                      void (*hook)(void *context), void *context);

/* Current state, and counts since net_start(); all 0 before it. */
struct net_stats {
    uint32_t connections;  /* open connections of services */
    uint32_t closing;      /* closed by services, not ended yet */
    uint32_t pcbs;         /* control blocks in use, including listening ones */
    uint32_t pcbs_waiting; /* of these: in TIME-WAIT, until a timeout */
    uint32_t buffers;      /* packet buffers in use */
    uint32_t segments;     /* TCP segments in use */
    uint32_t heap_pieces;  /* blocks of the heap that the stack holds */
    uint32_t refusals;     /* failed allocations */
    uint64_t accepted;     /* connections accepted */
    uint64_t refused;      /* connections refused, by net.per_address */
    uint64_t frames_in;    /* frames from the device */
    uint64_t frames_out;   /* frames to the device */
    uint64_t dropped_in;   /* frames dropped without a buffer in the stack */
    uint64_t dropped_out;  /* frames dropped without room in the device */
    uint64_t damaged_in;   /* packets with a wrong checksum, length or form */
    uint64_t kicks;        /* notifications of the device */
    uint64_t interrupts;   /* raised by the device */
    bool offload;          /* the device computes TCP and UDP checksums */
};
void net_stats(struct net_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
