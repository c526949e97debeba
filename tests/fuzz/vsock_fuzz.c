/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds any packets of a host to the guest's sockets, while their owner uses
 * them.
 *
 * The input is steps. The low bits of a step's first byte say what is done;
 * MEND makes a packet's addresses right, so that the fuzzer gets beyond them,
 * and FULL leaves the device no room.
 */

#include "fuzz.h"

#include "vsock.h"

#define GUEST 3u
#define PORT 52u
#define MEND 8u
#define FULL 16u
#define PORTS 12u /* of the host, more than there are sockets */

static struct vsock vsock;
static unsigned room, sent;

static uint32_t credit_of(const struct vsock_header *header)
{
    for (unsigned i = 0; i < VSOCK_SOCKETS; i++) {
        const struct vsock_socket *at = &vsock.sockets[i];

        if (at->state == VSOCK_OPEN && at->port == header->src_port &&
            at->peer_port == header->dst_port &&
            at->peer_cid == header->dst_cid) {
            uint32_t flight = at->sent - at->peer_forwarded;

            return flight < at->peer_room ? at->peer_room - flight : 0;
        }
    }
    return 0;
}

static bool put(const struct vsock_header *header, const void *data)
{
    static volatile uint8_t last;

    require(header->src_cid == vsock.cid);
    require(header->op >= VSOCK_OP_REQUEST &&
            header->op <= VSOCK_OP_CREDIT_REQUEST);
    if (room == 0)
        return false;
    if (header->op == VSOCK_OP_RW)
        require(header->len > 0 && header->len <= credit_of(header));
    else
        require(header->len == 0);
    for (uint32_t i = 0; i < header->len; i++)
        last = ((const uint8_t *)data)[i];
    (void)last;
    room--;
    sent++;
    return true;
}

static void check(void)
{
    for (unsigned i = 0; i < VSOCK_SOCKETS; i++) {
        require(vsock.sockets[i].state <= VSOCK_CLOSING);
        require(vsock_available(&vsock, (int)i) <= VSOCK_ROOM);
    }
}

/* Takes up to (most) bytes of the input. */
struct input {
    const uint8_t *at, *end;
};

static size_t take(struct input *input, void *to, size_t most)
{
    size_t left = (size_t)(input->end - input->at);
    size_t bytes = most < left ? most : left;

    memcpy(to, input->at, bytes);
    input->at += bytes;
    return bytes;
}

static uint8_t take_byte(struct input *input)
{
    uint8_t byte = 0;

    (void)take(input, &byte, 1);
    return byte;
}

/* The data is a block of its own, so that a read beyond it is seen. */
static void packet(struct input *input, uint8_t step)
{
    struct vsock_header header = {0};
    size_t bytes = (size_t)take_byte(input) * 5;
    uint8_t *data = malloc(bytes > 0 ? bytes : 1);

    (void)take(input, &header, sizeof header);
    if ((step & MEND) != 0) {
        header.src_cid = VSOCK_HOST;
        header.dst_cid = vsock.cid;
        header.src_port %= PORTS;
        header.dst_port = header.dst_port % 4 == 0 ? header.dst_port : PORT;
        header.type = VSOCK_TYPE_STREAM;
        header.op %= 10;
        header.len = (uint32_t)bytes;
    }
    memset(data, 'a', bytes);
    (void)take(input, data, bytes);
    sent = 0;
    vsock_take(&vsock, &header, data, bytes);
    require(sent <= 1);
    free(data);
}

static void use(struct input *input, unsigned what)
{
    static uint8_t data[4096];
    int socket = (int)take_byte(input) - 1;
    size_t bytes = (size_t)take_byte(input) * 16;

    switch (what) {
    case 3:
        (void)vsock_send(&vsock, socket, data, bytes);
        (void)vsock_unread(&vsock, socket);
        break;
    case 4:
        require(vsock_receive(&vsock, socket, data, bytes) <= bytes);
        break;
    case 5:
        (void)vsock_close(&vsock, socket);
        break;
    case 6:
        (void)vsock_accept(&vsock, PORT);
        (void)vsock_connect(&vsock, VSOCK_HOST, (uint32_t)bytes);
        break;
    default:
        vsock_step(&vsock);
        if (bytes == 16)
            vsock_reset(&vsock, GUEST + (uint32_t)socket % 2u);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input input = {data, data + bytes};

    vsock_open(&vsock, GUEST, put);
    require(vsock_listen(&vsock, PORT));
    while (input.at < input.end) {
        uint8_t step = take_byte(&input);

        room = (step & FULL) != 0 ? 0 : 8;
        if (step % 8 < 3)
            packet(&input, step);
        else
            use(&input, step % 8);
        check();
    }
    return 0;
}
