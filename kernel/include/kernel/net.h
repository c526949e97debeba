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
 * The pointer is invalid afterwards. The service may close or abort in any
 * callback, including those of the same connection.
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

/* Describes (reason), never NULL. */
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
 * Where the time of a service's handlers goes, by which <prof/loop.h> says who
 * holds the event loop: a site for each.
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
     * A peer has connected. Returning false resets the connection, and (conn)
     * becomes invalid. (context) is that of net_listen().
     */
    bool (*accept)(struct net_conn *conn, void *context);

    /*
     * (count) bytes were received, 1 to NET_PIECE_MAX; any values, including
     * NUL. They are valid until this returns. net_pause() takes effect before
     * the next call.
     */
    void (*receive)(struct net_conn *conn, const void *bytes, size_t count);

    /*
     * The peer has ended its side but may still be reading. Called once, after
     * the last bytes. If it is NULL, the connection is closed then.
     */
    void (*ended)(struct net_conn *conn);

    /* There is room again after net_write() has accepted too little. */
    void (*room)(struct net_conn *conn);

    /* It has ended; (conn) is invalid when this returns. See above. */
    void (*gone)(struct net_conn *conn, enum net_reason reason);

    /*
     * Text for a peer that is refused because its address has too many
     * connections; NULL: it is reset. `accept` is not called for it.
     */
    const char *refusal;

    struct net_sites *sites; /* NULL: its time is the network's */

    /* What the stack does for these connections is work of the profiler's, for
     * <prof/transport.h>: of one port, the last one that listens so. */
    bool profiler;
};

/*
 * There are at most NET_CONNECTIONS, including those in TIME-WAIT, of which the
 * oldest makes room for a new one. One address may have as many of them as
 * net.per_address= says, by default half: so no single peer can keep all others
 * out. Of those beyond, at most NET_REFUSALS at a time get the refusal, and the
 * others are reset. Refused connections are counted, and reported on the
 * console at most every ten seconds.
 */
#define NET_CONNECTIONS 2048
#define NET_PER_ADDRESS 1024
#define NET_REFUSALS 16

/*
 * Finds the network device, starts the stack and assigns the address of net.ip.
 * With net.ip=dhcp, the default, the address follows later. Returns 0, or a
 * negative code after printing the reason. Once it has returned 0, later calls
 * do nothing and return 0.
 */
#define NET_ENODEVICE (-1) /* none, or one that is not supported */
#define NET_EMEMORY (-2)
int net_start(void);

/*
 * Listens on (port) at all addresses. (handlers) MUST stay valid; (context) is
 * passed to accept. At most NET_BACKLOG connections wait to be accepted;
 * further peers retry by themselves. Returns 0, NET_EPORT if the port is in
 * use, or NET_EMEMORY.
 */
#define NET_EPORT (-3)
#define NET_BACKLOG 255
int net_listen(uint16_t port, const struct net_handlers *handlers,
               void *context);

/*
 * Connects to (address). The connection belongs to the service at once, with
 * the pointer (user), and may be written to. `accept` is called when it is
 * established, with (user) as its context; or `gone`. Returns NULL if there is
 * no memory or no route.
 */
struct net_conn *net_connect(const struct net_address *address,
                             const struct net_handlers *handlers, void *user);

/* Sends (count) bytes as a UDP datagram from a port of the stack's choice.
 * False: too many, no memory, no route, or no room in the device. */
#define NET_DATAGRAM_MAX 1472
bool net_send_datagram(const struct net_address *address, const void *bytes,
                       size_t count);

/*
 * Before the image ends, outside of callbacks: sends what was written to (conn)
 * and waits until its peer has all of it. Meanwhile only (conn) is served; its
 * `room` and `gone` may be called. False: the peer has taken nothing for
 * NET_FLUSH_S seconds, or not all in NET_FLUSH_ALL_S.
 */
#define NET_FLUSH_S 5
#define NET_FLUSH_ALL_S 60
bool net_flush(struct net_conn *conn);

/* net_close(), and waits until the peer has closed its side, too: then it has
 * everything. As long as net_flush() does. In a callback: does not wait. */
void net_finish(struct net_conn *conn);

/* A pointer for the service in each connection; initially NULL. */
void net_set_user(struct net_conn *conn, void *user);
void *net_user(const struct net_conn *conn);

/* The peer's address. */
struct net_address net_peer(const struct net_conn *conn);

/*
 * Copies as many of (count) bytes as fit and returns their number. If that is
 * less than (count), `room` is called later. To write a piece whole or not at
 * all, check net_room() first.
 */
size_t net_write(struct net_conn *conn, const void *bytes, size_t count);

/*
 * Bytes that net_write() would accept now: NET_ROOM_MAX if no data are in
 * flight. net_write() may still accept less if memory is short. If the result
 * is below NET_ROOM_WORTH, `room` is called when it is at least that again; so
 * pieces of up to that size can always be written whole.
 */
#define NET_ROOM_MAX 46720
#define NET_ROOM_WORTH (NET_ROOM_MAX / 4)
size_t net_room(struct net_conn *conn);

/*
 * Flow control: while a connection is paused, the stack holds up to NET_WINDOW
 * received bytes, and then the peer has to wait. After net_resume() they are
 * passed to `receive` in the next turn. `ended` is delayed as well.
 */
#define NET_WINDOW 23360
void net_pause(struct net_conn *conn);
void net_resume(struct net_conn *conn);

/*
 * Sends pending data and closes the connection. Data still received are
 * discarded and not answered by a reset, which could make the peer lose unread
 * data. A peer that neither reads nor closes is reset after NET_LINGER_S
 * seconds. Those in which a lost segment is waiting for one of its first
 * NET_LINGER_RETRIES retransmissions do not count: each wait is twice as long
 * as the one before.
 */
#define NET_LINGER_S 20
#define NET_LINGER_RETRIES 3
void net_close(struct net_conn *conn);

/* Resets the connection at once. */
void net_abort(struct net_conn *conn);

/* The own address; 0 until DHCP has assigned one. */
uint32_t net_ip(void);

/*
 * Asks (due) at the end of each turn of the loop, after received data are
 * delivered and before written data are sent, and calls (hook) if it is true.
 * For work that should be done once per turn. Both are given (context). (due)
 * only looks, for it is no site of the loop's statistics as (hook) is. Neither
 * can be removed. False: there are NET_HOOKS_MAX already.
 */
#define NET_HOOKS_MAX 8
#define net_each_turn(due, hook, context)                                      \
    net_each_turn_at(LOOP_HERE(#hook), due, hook, context)
bool net_each_turn_at(struct prof_trace_name *site, bool (*due)(void *context),
                      void (*hook)(void *context), void *context);

/* Current state, and counts since net_start(); all 0 before it. */
struct net_stats {
    uint32_t connections;  /* open, of services */
    uint32_t closing;      /* closed by services, not yet ended */
    uint32_t pcbs;         /* control blocks in use, including listening */
    uint32_t pcbs_waiting; /* of these, in TIME-WAIT; end by timeout */
    uint32_t buffers;      /* packet buffers in use */
    uint32_t segments;     /* TCP segments in use */
    uint32_t heap_pieces;  /* blocks of the heap that the stack holds */
    uint32_t refusals;     /* failed allocations */
    uint64_t accepted;     /* connections since the start */
    uint64_t refused;      /* connections, by net.per_address */
    uint64_t frames_in;    /* from the device */
    uint64_t frames_out;   /* to the device */
    uint64_t dropped_in;   /* frames without a free buffer in the stack */
    uint64_t dropped_out;  /* frames without room in the device */
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
