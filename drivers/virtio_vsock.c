/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.2, 5.10.
 *
 * A packet is a header and data in two descriptors, in both directions: all
 * devices accept that layout, and some no other.
 *
 * A received packet is taken only while there is a block for its reply. What
 * waits meanwhile is in the receive queue, which the device fills no further;
 * it takes what we send nevertheless (5.10.6.1.2), so neither waits for the
 * other for ever.
 */

#include "virtio_vsock.h"

#include "virtio_queue.h"

#include <arch/cpu.h>

#define QUEUE_IN 0u
#define QUEUE_OUT 1u
#define QUEUE_EVENT 2u

#define FEATURE_STREAM ((uint64_t)1 << 0)
#define FEATURE_NO_IMPLIED_STREAM ((uint64_t)1 << 2)

#define EVENT_TRANSPORT_RESET 0u

#define IN_BLOCKS 16u
#define OUT_BLOCKS 16u
#define CONTROLS 16u
#define EVENTS 4u

#define PAUSES 32u       /* they leave QEMU's lock alone */
#define DELAY_PORT 0x80u /* a read takes about 1 us */

#define HEADER_BYTES ((uint32_t)sizeof(struct vsock_header))
#define HEADER_ROOM 64u

_Static_assert(sizeof(struct vsock_header) == 44, "as in the specification");

struct in_block {
    uint8_t header[HEADER_ROOM];
    uint8_t data[VSOCK_ROOM]; /* a peer has credit for no more */
};

struct out_block {
    uint8_t header[HEADER_ROOM];
    uint8_t data[VIRTIO_VSOCK_BLOCK];
};

/* All of it is allocated, so that it costs nothing where there is no device. */
static struct {
    struct virtio_queue in, out, event;
    struct vsock sockets;
    struct in_block in_blocks[IN_BLOCKS];
    struct out_block out_blocks[OUT_BLOCKS];
    uint8_t controls[CONTROLS][HEADER_ROOM];
    uint32_t events[EVENTS];
    struct out_block *idle[OUT_BLOCKS]; /* not in flight */
    unsigned idle_count;
    uint8_t *idle_controls[CONTROLS];
    unsigned idle_control_count;
} * state;

static struct virtio_device device;
static bool started;

static void copy(uint8_t *to, const void *from, size_t bytes)
{
    __asm__ volatile("rep movsb"
                     : "+D"(to), "+S"(from), "+c"(bytes)
                     :
                     : "memory");
}

/* ---- sending */

static bool is_control(const uint8_t *block)
{
    return (uintptr_t)block - (uintptr_t)state->controls <
           sizeof state->controls;
}

static void collect_sent(void)
{
    uint32_t written;
    uint8_t *block;

    while ((block = virtio_take(&state->out, &written)) != NULL) {
        if (is_control(block))
            state->idle_controls[state->idle_control_count++] = block;
        else
            state->idle[state->idle_count++] = (struct out_block *)block;
    }
}

static bool put_control(const struct vsock_header *header)
{
    struct virtio_part part = {NULL, HEADER_BYTES, false};

    if (state->idle_control_count == 0)
        return false;
    part.memory = state->idle_controls[state->idle_control_count - 1];
    copy(part.memory, header, HEADER_BYTES);
    if (!virtio_put(&state->out, &part, 1, part.memory))
        return false;
    state->idle_control_count--;
    return true;
}

static bool put_data(const struct vsock_header *header, const void *data)
{
    struct out_block *block;

    if (state->idle_count == 0 || header->len > VIRTIO_VSOCK_BLOCK)
        return false;
    block = state->idle[state->idle_count - 1];
    copy(block->header, header, HEADER_BYTES);
    copy(block->data, data, header->len);
    const struct virtio_part parts[] = {
        {block->header, HEADER_BYTES, false},
        {block->data, header->len, false},
    };
    if (!virtio_put(&state->out, parts, 2, block))
        return false;
    state->idle_count--;
    return true;
}

static bool put_packet(const struct vsock_header *header, const void *data)
{
    bool sent;

    collect_sent();
    sent = header->len == 0 ? put_control(header) : put_data(header, data);
    if (sent)
        virtio_kick(&state->out);
    return sent;
}

/* ---- receiving */

static void offer(struct in_block *block)
{
    const struct virtio_part parts[] = {
        {block->header, HEADER_BYTES, true},
        {block->data, sizeof block->data, true},
    };

    (void)virtio_put(&state->in, parts, 2, block);
}

static void offer_event(uint32_t *event)
{
    const struct virtio_part part = {event, sizeof *event, true};

    *event = UINT32_MAX;
    (void)virtio_put(&state->event, &part, 1, event);
}

/* The upper half of the CID is reserved and zero. */
static uint64_t read_cid(void)
{
    return virtio_config32(&device, 0);
}

static void take_events(void)
{
    uint32_t written, *event;
    bool taken = false;

    for (unsigned i = 0; i < EVENTS; i++) {
        event = virtio_take(&state->event, &written);
        if (event == NULL)
            break;
        if (written >= sizeof *event && *event == EVENT_TRANSPORT_RESET)
            vsock_reset(&state->sockets, read_cid());
        offer_event(event);
        taken = true;
    }
    if (taken)
        virtio_kick(&state->event);
}

/* The header is read once: the device could change it meanwhile. */
static void take_packet(const struct in_block *block, uint32_t written)
{
    struct vsock_header header;
    uint32_t bytes = written - HEADER_BYTES;

    if (written < HEADER_BYTES) {
        state->sockets.counts.strange++;
        return;
    }
    copy((uint8_t *)&header, block->header, HEADER_BYTES);
    if (bytes > sizeof block->data)
        bytes = sizeof block->data;
    vsock_take(&state->sockets, &header, block->data, bytes);
}

static void take_packets(void)
{
    struct in_block *block;
    uint32_t written;
    bool taken = false;

    for (unsigned i = 0; i < IN_BLOCKS; i++) {
        collect_sent();
        if (state->idle_control_count == 0)
            break;
        block = virtio_take(&state->in, &written);
        if (block == NULL)
            break;
        take_packet(block, written);
        offer(block);
        taken = true;
    }
    if (taken)
        virtio_kick(&state->in);
}

void virtio_vsock_poll(void)
{
    if (!started)
        return;
    vsock_hold(&state->sockets);
    collect_sent();
    take_events();
    take_packets();
    vsock_step(&state->sockets);
    vsock_release(&state->sockets);
}

void virtio_vsock_pause(void)
{
    for (unsigned i = 0; i < PAUSES; i++)
        arch_pause();
    (void)arch_in8(DELAY_PORT);
}

struct vsock *virtio_vsock(void)
{
    return started ? &state->sockets : NULL;
}

/* ---- the beginning */

static int open_queue(struct virtio_queue *queue, unsigned index,
                      void *(*allocate)(size_t bytes))
{
    size_t bytes = virtio_queue_bytes(&device, index);
    void *memory = bytes != 0 ? allocate(bytes) : NULL;

    if (bytes == 0)
        return VIRTIO_VSOCK_QUEUES;
    if (memory == NULL)
        return VIRTIO_VSOCK_MEMORY;
    return virtio_queue_open(&device, queue, index, memory)
               ? 0
               : VIRTIO_VSOCK_QUEUES;
}

static int open_queues(void *(*allocate)(size_t bytes))
{
    int error = open_queue(&state->in, QUEUE_IN, allocate);

    if (error == 0)
        error = open_queue(&state->out, QUEUE_OUT, allocate);
    if (error == 0)
        error = open_queue(&state->event, QUEUE_EVENT, allocate);
    return error;
}

static int start_device(void *(*allocate)(size_t bytes))
{
    if (!virtio_find(&device, VIRTIO_SOCKET,
                     FEATURE_STREAM | FEATURE_NO_IMPLIED_STREAM))
        return VIRTIO_VSOCK_NONE;
    if ((device.features & FEATURE_NO_IMPLIED_STREAM) != 0 &&
        (device.features & FEATURE_STREAM) == 0)
        return VIRTIO_VSOCK_STREAM;
    state = allocate(sizeof *state);
    if (state == NULL)
        return VIRTIO_VSOCK_MEMORY;
    return open_queues(allocate);
}

static void make_ready(void)
{
    state->idle_count = state->idle_control_count = 0;
    for (unsigned i = 0; i < OUT_BLOCKS; i++)
        state->idle[state->idle_count++] = &state->out_blocks[i];
    for (unsigned i = 0; i < CONTROLS; i++)
        state->idle_controls[state->idle_control_count++] = state->controls[i];
    vsock_open(&state->sockets, read_cid(), put_packet);
    for (unsigned i = 0; i < IN_BLOCKS; i++)
        offer(&state->in_blocks[i]);
    for (unsigned i = 0; i < EVENTS; i++)
        offer_event(&state->events[i]);
    virtio_ready(&device);
    virtio_kick(&state->event);
    virtio_kick(&state->in);
    started = true;
}

int virtio_vsock_start(void *(*allocate)(size_t bytes))
{
    int error = started ? 0 : start_device(allocate);

    if (error == 0 && !started)
        make_ready();
    return error;
}
