/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, 5.1. The negotiated features
 * are the address and the two checksum features; tap devices support the
 * latter, QEMU's user network does not. Segmentation offload is not negotiated,
 * so each frame is in one buffer.
 *
 * A buffer is a header followed by the frame. The header has ten bytes, or
 * twelve with the modern interface, and ends where the frame begins:
 *
 *     buffer   [ 2 | header 10 | frame 1514 | 10 unused ]
 *
 * Devices without VIRTIO_ANY_LAYOUT require header and frame in two parts;
 * others get one.
 */

#include "virtio_net.h"

#include "virtio_irq.h"

#include <arch/cpu.h>

#define QUEUE_IN 0u
#define QUEUE_OUT 1u

#define FEATURE_CSUM ((uint64_t)1 << 0)
#define FEATURE_GUEST_CSUM ((uint64_t)1 << 1)
#define FEATURE_MAC ((uint64_t)1 << 5)

#define HEADER_NEEDS_CSUM 1u
#define HEADER_DATA_VALID 2u

#define HEADER_LEGACY 10u
#define HEADER_MODERN 12u
#define FRAME_AT 12u
#define BUFFER_BYTES 1536u
#define ETHERNET_HEADER 14u
#define STAMPS 64u /* interrupts between two polls; a power of two */

/* struct virtio_net_hdr, directly before the frame. */
struct header {
    uint8_t flags;
    uint8_t segment_kind;
    uint16_t header_bytes;
    uint16_t segment_bytes;
    uint16_t sum_start;
    uint16_t sum_offset;
    uint16_t buffers; /* modern only */
} __attribute__((packed, aligned(2)));

static struct virtio_device device;
static struct virtio_queue in, out;
static bool started;
static uint32_t header_bytes;
static unsigned parts_each; /* descriptors of a frame */

static uint8_t *room[VIRTIO_QUEUE_MAX]; /* buffers not in flight */
static unsigned room_count;
static uint8_t *offered; /* the one being filled, NULL = none */
static uint8_t mac_address[VIRTIO_NET_MAC];

/* The header of the frame at (frame), before it. */
static struct header *header_of(const uint8_t *frame)
{
    return (struct header *)((uintptr_t)frame - header_bytes);
}

static bool put_frame(struct virtio_queue *queue, uint8_t *frame,
                      uint32_t bytes, bool written)
{
    uint8_t *header = (uint8_t *)header_of(frame);
    const struct virtio_part apart[] = {
        {header, header_bytes, written},
        {frame, bytes, written},
    };
    const struct virtio_part whole = {header, header_bytes + bytes, written};

    return parts_each == 1 ? virtio_put(queue, &whole, 1, frame)
                           : virtio_put(queue, apart, 2, frame);
}

static unsigned buffers_of(const struct virtio_queue *queue)
{
    return queue->size / parts_each;
}

static int open_queue(struct virtio_queue *queue, unsigned index,
                      void *(*allocate)(size_t bytes))
{
    size_t bytes = virtio_queue_bytes(&device, index);
    void *memory = bytes != 0 ? allocate(bytes) : NULL;

    if (bytes == 0)
        return VIRTIO_NET_QUEUES;
    if (memory == NULL)
        return VIRTIO_NET_MEMORY;
    return virtio_queue_open(&device, queue, index, memory) ? 0
                                                            : VIRTIO_NET_QUEUES;
}

/* A device without an address gets a random locally administered one. */
static void find_mac(void)
{
    uint64_t dither = arch_tsc();

    for (unsigned i = 0; i < VIRTIO_NET_MAC; i++)
        mac_address[i] = (device.features & FEATURE_MAC) != 0
                             ? virtio_config8(&device, i)
                             : (uint8_t)(dither >> 8 * i);
    if ((device.features & FEATURE_MAC) == 0)
        mac_address[0] = (uint8_t)((mac_address[0] & ~1u) | 2u);
}

static int make_buffers(void *(*allocate)(size_t bytes))
{
    unsigned in_count = buffers_of(&in);
    unsigned out_count = buffers_of(&out);
    uint8_t *memory = allocate((size_t)(in_count + out_count) * BUFFER_BYTES);

    if (memory == NULL)
        return VIRTIO_NET_MEMORY;
    for (unsigned i = 0; i < in_count; i++, memory += BUFFER_BYTES)
        virtio_net_give_back(memory + FRAME_AT);
    for (room_count = 0; room_count < out_count; memory += BUFFER_BYTES)
        room[room_count++] = memory + FRAME_AT;
    return 0;
}

static int start_device(void *(*allocate)(size_t bytes))
{
    int error;

    if (!virtio_find(&device, VIRTIO_NETWORK,
                     FEATURE_CSUM | FEATURE_GUEST_CSUM | FEATURE_MAC |
                         VIRTIO_ANY_LAYOUT))
        return VIRTIO_NET_NONE;
    header_bytes = device.transport->modern ? HEADER_MODERN : HEADER_LEGACY;
    parts_each =
        device.transport->modern || (device.features & VIRTIO_ANY_LAYOUT) != 0
            ? 1
            : 2;
    if ((error = open_queue(&in, QUEUE_IN, allocate)) != 0 ||
        (error = open_queue(&out, QUEUE_OUT, allocate)) != 0 ||
        (error = make_buffers(allocate)) != 0)
        return error;
    find_mac();
    return virtio_irq_on(&device) ? 0 : VIRTIO_NET_LINE;
}

int virtio_net_start(void *(*allocate)(size_t bytes))
{
    int error = started ? 0 : start_device(allocate);

    if (error == 0 && !started) {
        virtio_ready(&device);
        virtio_kick(&in);
        started = true;
    }
    return error;
}

void virtio_net_mac(uint8_t mac[VIRTIO_NET_MAC])
{
    for (unsigned i = 0; i < VIRTIO_NET_MAC; i++)
        mac[i] = mac_address[i];
}

bool virtio_net_sums(void)
{
    return (device.features & FEATURE_CSUM) != 0;
}

/* ---- out */

/* Must keep returning the same buffer until put(), as it is being filled, even
 * if the device completes others meanwhile. */
uint8_t *virtio_net_room(void)
{
    uint32_t written;
    uint8_t *frame;

    if (offered != NULL)
        return offered;
    while ((frame = virtio_take(&out, &written)) != NULL)
        room[room_count++] = frame;
    if (room_count != 0)
        offered = room[--room_count];
    return offered;
}

/* There is a descriptor for each buffer, so put() cannot fail. */
void virtio_net_put(size_t bytes, const struct virtio_net_sum *sum)
{
    uint8_t *frame = offered;
    struct header *header = header_of(frame);

    header->flags = sum->start != 0 ? HEADER_NEEDS_CSUM : 0;
    header->segment_kind = 0;
    header->header_bytes = 0;
    header->segment_bytes = 0;
    header->sum_start = sum->start;
    header->sum_offset = sum->offset;
    if (header_bytes == HEADER_MODERN)
        header->buffers = 0;
    if (put_frame(&out, frame, (uint32_t)bytes, false))
        offered = NULL;
}

/* ---- in */

/*
 * Each interrupt stores how many frames have been completed until then. The
 * first one that includes a frame says when that arrived. The interrupt writes
 * only `end`, the thread only `begin`; an interrupt that finds no room stores
 * nothing, and its frames have arrived when they are taken.
 */
static struct {
    uint16_t completed;
    uint64_t tsc;
} stamps[STAMPS];
static volatile uint32_t stamps_begin, stamps_end;
static uint64_t arrived;

static void stamp(void)
{
    uint32_t end = stamps_end;

    if (end - stamps_begin == STAMPS)
        return;
    stamps[end % STAMPS].tsc = arch_tsc();
    stamps[end % STAMPS].completed = virtio_completed(&in);
    stamps_end = end + 1;
}

/* The frames before (taken) of the queue have been taken. */
static void find_arrival(uint16_t taken)
{
    uint32_t begin = stamps_begin;

    while (begin != stamps_end &&
           (int16_t)(stamps[begin % STAMPS].completed - taken) < 0)
        begin++;
    stamps_begin = begin;
    arrived = begin != stamps_end ? stamps[begin % STAMPS].tsc : arch_tsc();
}

void virtio_net_stamp(bool on)
{
    device.interrupted = on ? stamp : NULL;
    stamps_begin = stamps_end;
    arrived = 0;
}

uint64_t virtio_net_arrived(void)
{
    return arrived;
}

const uint8_t *virtio_net_take(size_t *bytes, bool *sum_good)
{
    uint32_t written;
    const uint8_t *frame;

    while ((frame = virtio_take(&in, &written)) != NULL) {
        if (device.interrupted != NULL)
            find_arrival(in.seen);
        if (written >= header_bytes + ETHERNET_HEADER &&
            written <= header_bytes + VIRTIO_NET_FRAME_MAX) {
            *bytes = written - header_bytes;
            *sum_good = (header_of(frame)->flags &
                         (HEADER_NEEDS_CSUM | HEADER_DATA_VALID)) != 0;
            return frame;
        }
        virtio_net_give_back(frame);
    }
    return NULL;
}

void virtio_net_give_back(const uint8_t *frame)
{
    (void)put_frame(&in, (uint8_t *)(uintptr_t)frame, VIRTIO_NET_FRAME_MAX,
                    true);
}

void virtio_net_offer(void)
{
    virtio_kick(&in);
}

struct virtio_queue *virtio_net_in(void)
{
    return &in;
}

struct virtio_queue *virtio_net_out(void)
{
    return &out;
}

uint32_t virtio_net_interrupts(void)
{
    return *(volatile uint32_t *)&device.interrupts;
}
