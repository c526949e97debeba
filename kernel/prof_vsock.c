/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Clients are few and stay in the order in which they came. A line of one is
 * passed on when it is complete, so that the lines of two are never mixed; one
 * that fills a socket's room and has not ended is passed on as far as it goes,
 * for the parser to refuse, and its rest is dropped.
 *
 * send() may be called by the sampling interrupt. It does not look at the
 * sockets while a thread does, here or in a service that has sockets of its
 * own: prof_vsock_busy() says so beforehand, and in a panic, where nobody asks,
 * the packet is refused.
 */

#include "prof_vsock.h"

#include <kernel/console.h>
#include <malloc.h>
#include <stdint.h>
#include <virtio_queue.h>
#include <virtio_vsock.h>

#define FINISH_POLLS_MAX 500000u /* without a forwarded byte; seconds */
#define NOBODY (-1)

static uint32_t port = PROF_VSOCK_PORT;
static unsigned uses; /* calls of the functions below that run */

static struct {
    int socket;
    bool drops;           /* the rest of a line that is too long */
} clients[VSOCK_SOCKETS]; /* in the order in which they came */
static unsigned client_count;

/* The line that receive() is in. */
static struct {
    int socket;  /* whose it is, NOBODY = none */
    size_t left; /* bytes of it */
    bool is_cut; /* no newline is among them; one is made up */
    bool has_ended;
} line = {.socket = NOBODY};

static struct {
    uint32_t packets; /* that nobody read */
    uint64_t bytes;
    uint32_t lines; /* that were too long */
} lost;

/* An interrupt looks at the count: the compiler must not move what is in
 * between to before or after it. */
static bool enter_driver(void)
{
    if (virtio_vsock() == NULL || prof_vsock_busy())
        return false;
    uses++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

static void leave_driver(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uses--;
}

bool prof_vsock_busy(void)
{
    return uses != 0 || (virtio_vsock() != NULL && vsock_busy(virtio_vsock()));
}

bool prof_vsock_set_port(const char *text)
{
    uint64_t value = 0;

    for (const char *at = text; *at != '\0'; at++) {
        if (*at < '0' || *at > '9')
            return false;
        value = value * 10 + (uint64_t)(*at - '0');
        if (value >= UINT32_MAX)
            return false;
    }
    if (value == 0)
        return false;
    port = (uint32_t)value;
    return true;
}

/* ---- clients */

/* How many bytes the next line of (socket) has, with its newline; 0: it is not
 * complete. */
static size_t line_bytes(int socket)
{
    size_t available = vsock_available(virtio_vsock(), socket);

    for (size_t i = 0; i < available; i++)
        if (vsock_peek(virtio_vsock(), socket, i) == '\n')
            return i + 1;
    return 0;
}

static void drop_bytes(int socket, size_t bytes)
{
    uint8_t byte;

    while (bytes-- > 0)
        (void)vsock_receive(virtio_vsock(), socket, &byte, 1);
}

static void drop_rest(unsigned client)
{
    int socket = clients[client].socket;
    size_t bytes = line_bytes(socket);

    clients[client].drops = bytes == 0;
    drop_bytes(socket,
               bytes != 0 ? bytes : vsock_available(virtio_vsock(), socket));
}

static void forget(unsigned client)
{
    if (line.socket == clients[client].socket)
        line.socket = NOBODY;
    client_count--;
    for (; client < client_count; client++)
        clients[client] = clients[client + 1];
}

/* One that has closed the connection is kept while a line of it waits. */
static void follow_clients(void)
{
    struct vsock *vsock = virtio_vsock();
    int socket;

    while (client_count < VSOCK_SOCKETS &&
           (socket = vsock_accept(vsock, port)) >= 0) {
        clients[client_count].socket = socket;
        clients[client_count++].drops = false;
    }
    for (unsigned i = 0; i < client_count;) {
        socket = clients[i].socket;
        if (clients[i].drops)
            drop_rest(i);
        if (!vsock_is_read(vsock, socket) && line.socket != socket &&
            line_bytes(socket) == 0 && vsock_close(vsock, socket))
            forget(i);
        else
            i++;
    }
}

/* Who gets the packets; NOBODY: there is no one. */
static int reader(void)
{
    for (unsigned i = 0; i < client_count; i++)
        if (vsock_is_read(virtio_vsock(), clients[i].socket))
            return clients[i].socket;
    return NOBODY;
}

static void step(void)
{
    virtio_vsock_poll();
    follow_clients();
}

/* ---- the transport */

static void *pages(size_t bytes)
{
    return memalign(VIRTIO_PAGE_BYTES, bytes);
}

bool prof_vsock_open(void)
{
    if (virtio_vsock_start(pages) != 0 || !vsock_listen(virtio_vsock(), port))
        return false;
    console_line("prof: vsock: port %lu of CID %lu", (unsigned long)port,
                 (unsigned long)virtio_vsock()->cid);
    return true;
}

bool prof_vsock_send(const void *packet, size_t bytes)
{
    bool sent = true;

    if (!enter_driver())
        return false;
    step();
    if (reader() == NOBODY) {
        lost.packets++;
        lost.bytes += bytes;
    } else {
        sent = vsock_send(virtio_vsock(), reader(), packet, bytes);
    }
    leave_driver();
    return sent;
}

/* Until the reader has all, as far as the device knows: what is in the memory
 * of a hypervisor that ends with its guest would be lost. */
void prof_vsock_finish(void)
{
    uint32_t least = UINT32_MAX;

    for (unsigned i = 0; i < FINISH_POLLS_MAX; i++) {
        uint32_t unread;

        if (!enter_driver())
            return;
        step();
        unread = vsock_unread(virtio_vsock(), reader());
        leave_driver();
        if (unread == 0)
            return;
        if (unread < least) { /* what grows again is a peer's mischief */
            least = unread;
            i = 0;
        }
        virtio_vsock_pause();
    }
}

/* ---- commands */

/* Begins the next line that is complete, of the first client that has one. */
static void begin_line(void)
{
    for (unsigned i = 0; i < client_count && line.socket == NOBODY; i++) {
        int socket = clients[i].socket;
        size_t bytes = clients[i].drops ? 0 : line_bytes(socket);

        line.is_cut =
            bytes == 0 && vsock_available(virtio_vsock(), socket) == VSOCK_ROOM;
        if (line.is_cut) {
            bytes = VSOCK_ROOM;
            clients[i].drops = true;
            lost.lines++;
        }
        if (bytes == 0)
            continue;
        line.socket = socket;
        line.left = bytes;
        line.has_ended = false;
    }
}

static int next_byte(void)
{
    uint8_t byte = '\n';

    if (line.left == 0) { /* the newline that is made up */
        line.has_ended = true;
        return byte;
    }
    (void)vsock_receive(virtio_vsock(), line.socket, &byte, 1);
    line.left--;
    line.has_ended = line.left == 0 && !line.is_cut;
    return byte;
}

int prof_vsock_receive(void)
{
    int byte = -1;

    if (!enter_driver())
        return -1;
    if (line.socket == NOBODY || line.has_ended) {
        line.socket = NOBODY;
        step();
        begin_line();
    }
    if (line.socket != NOBODY)
        byte = next_byte();
    leave_driver();
    return byte;
}

bool prof_vsock_answer(const void *text, size_t bytes)
{
    bool sent;

    if (!enter_driver())
        return false;
    sent = vsock_send(virtio_vsock(), line.socket, text, bytes);
    leave_driver();
    return sent;
}

void prof_vsock_print(void)
{
    const struct vsock_counts *counts;

    if (virtio_vsock() == NULL)
        return;
    counts = &virtio_vsock()->counts;
    console_line("prof: vsock: %lu connections, %lu refused, %lu broken off; "
                 "%lu packets (%lu bytes) had no reader",
                 (unsigned long)counts->accepted,
                 (unsigned long)counts->refused,
                 (unsigned long)counts->violations, (unsigned long)lost.packets,
                 (unsigned long)lost.bytes);
    if (counts->strange + counts->unsent + counts->resets + lost.lines != 0)
        console_line("prof: vsock: %lu packets to nobody or damaged, %lu "
                     "replies had no room, %lu resets of the transport, %lu "
                     "lines too long",
                     (unsigned long)counts->strange,
                     (unsigned long)counts->unsent,
                     (unsigned long)counts->resets, (unsigned long)lost.lines);
}
