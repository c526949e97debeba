/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtio socket device, with tests/vsock at its other end. The command line
 * says what is done:
 *
 *     do=echo      all that comes to port 52 is sent back, until somebody sends
 *                  "end"
 *     do=connect   a connection to port 1024 of the host, which gets a line and
 *                  sends one
 *     do=start-N   it cannot be started: enum virtio_vsock_error N
 */

#include "guest/word.h"

#include <kernel/console.h>
#include <kernel/service.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <virtio_queue.h>
#include <virtio_vsock.h>

#define PORT 52u
#define HOST_PORT 1024u
#define END "end\n"

/* What came from each socket and was not sent back yet. */
static struct {
    bool used;
    uint8_t bytes[VSOCK_ROOM];
    size_t count;
} echoes[VSOCK_SOCKETS];
static unsigned closed_count;

static void *pages(size_t bytes)
{
    return memalign(VIRTIO_PAGE_BYTES, bytes);
}

static void step(void)
{
    virtio_vsock_poll();
    virtio_vsock_pause();
}

/* Returns whether "end" came. */
static bool echo(int socket)
{
    struct vsock *vsock = virtio_vsock();
    uint8_t *bytes = echoes[socket].bytes;
    size_t *count = &echoes[socket].count;

    if (*count == 0)
        *count = vsock_receive(vsock, socket, bytes, VSOCK_ROOM);
    if (*count == sizeof END - 1 && memcmp(bytes, END, *count) == 0)
        return true;
    if (*count != 0 && (vsock_send(vsock, socket, bytes, *count) ||
                        !vsock_is_read(vsock, socket)))
        *count = 0;
    if (*count == 0 && vsock_state(vsock, socket) == VSOCK_CLOSED &&
        vsock_available(vsock, socket) == 0 && vsock_close(vsock, socket)) {
        echoes[socket].used = false;
        closed_count++;
    }
    return false;
}

static void echo_all(void)
{
    for (bool ends = false; !ends;) {
        int socket;

        step();
        while ((socket = vsock_accept(virtio_vsock(), PORT)) >= 0) {
            echoes[socket].used = true;
            echoes[socket].count = 0;
        }
        for (int i = 0; i < (int)VSOCK_SOCKETS && !ends; i++)
            ends = echoes[i].used && echo(i);
    }
}

static void connect(void)
{
    static const char line[] = "from the guest\n";
    struct vsock *vsock = virtio_vsock();
    int socket = vsock_connect(vsock, VSOCK_HOST, HOST_PORT);
    uint8_t bytes[64];
    size_t count = 0;

    while (vsock_state(vsock, socket) == VSOCK_CONNECTING)
        step();
    if (vsock_state(vsock, socket) != VSOCK_OPEN) {
        console_line("refused");
        return;
    }
    while (!vsock_send(vsock, socket, line, sizeof line - 1))
        step();
    while (count == 0 || bytes[count - 1] != '\n') {
        step();
        count +=
            vsock_receive(vsock, socket, bytes + count, sizeof bytes - count);
    }
    console_line("received: %.*s", (int)count - 1, (char *)bytes);
    while (!vsock_close(vsock, socket))
        step();
    while (vsock_state(vsock, socket) != VSOCK_FREE) /* until it is confirmed */
        step();
    console_line("closed");
}

int service_main(void)
{
    int error = virtio_vsock_start(pages);
    const struct vsock_counts *counts;

    if (error != 0) {
        console_line("error %d", error);
        return guest_word[6] == '0' + error ? 0 : 1;
    }
    console_line("CID %lu", (unsigned long)virtio_vsock()->cid);
    if (guest_is("connect")) {
        connect();
    } else if (vsock_listen(virtio_vsock(), PORT)) {
        console_line("listening");
        echo_all();
    }
    counts = &virtio_vsock()->counts;
    console_line(
        "accepted %lu, connected %lu, refused %lu, violations %lu, "
        "strange %lu, unsent %lu, closed %u",
        (unsigned long)counts->accepted, (unsigned long)counts->connected,
        (unsigned long)counts->refused, (unsigned long)counts->violations,
        (unsigned long)counts->strange, (unsigned long)counts->unsent,
        closed_count);
    return 0;
}
