/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_NET_H
#define VIRTIO_NET_H

/*
 * The first virtio network device: Ethernet frames, both ways, as many on
 * their way at a time as its queues have entries.
 *
 *     out: room = virtio_net_room(), write the frame there,
 *          virtio_net_put(bytes, sum), and sooner or later a kick
 *     in:  frame = virtio_net_take(&bytes, &sum_good), read it,
 *          virtio_net_give_back(frame), and at last virtio_net_offer()
 *
 * Frames are built and read in the device's own buffers. Contexts: thread.
 */

#include "virtio.h"

#define VIRTIO_NET_FRAME_MAX 1514u
#define VIRTIO_NET_MAC 6u

/* What the device is to do about the checksum of TCP or UDP: sum up from
 * `start` to the frame's end and write the result `offset` bytes after it. The
 * frame has the sum of the pseudo header there. `start` 0: nothing is done. */
struct virtio_net_sum {
    uint16_t start;
    uint16_t offset;
};

enum virtio_net_error {
    VIRTIO_NET_NONE = 1, /* there is no such device, or it wants what we lack */
    VIRTIO_NET_QUEUES,   /* its queues are larger than we can make them */
    VIRTIO_NET_MEMORY,   /* (allocate) refused */
    VIRTIO_NET_LINE,     /* no interrupt line is wired to it */
};

/*
 * Finds the device and makes it ready, in memory from (allocate), which gives
 * pages, or NULL. Returns 0 or an enum virtio_net_error; after 0 it is done for
 * good and says 0 again.
 */
int virtio_net_start(void *(*allocate)(size_t bytes));

void virtio_net_mac(uint8_t mac[VIRTIO_NET_MAC]);

/* Whether the device can do what struct virtio_net_sum says. */
bool virtio_net_sums(void);

/*
 * VIRTIO_NET_FRAME_MAX bytes for a frame, or NULL: all of them are on their
 * way. The same until virtio_net_put().
 */
uint8_t *virtio_net_room(void);

/* Queues the frame, (bytes) long, that was written into the room. */
void virtio_net_put(size_t bytes, const struct virtio_net_sum *sum);

/*
 * The next frame that has come, and its length, or NULL. (*sum_good): its
 * TCP or UDP checksum needs no check, the host answers for it.
 */
const uint8_t *virtio_net_take(size_t *bytes, bool *sum_good);

/* The frame is read: its buffer takes another, from the next offer on. */
void virtio_net_give_back(const uint8_t *frame);
void virtio_net_offer(void);

/* Both queues, for kicks, interrupts and counts; out's are kicked by whoever
 * puts frames. */
struct virtio_queue *virtio_net_in(void);
struct virtio_queue *virtio_net_out(void);

/* Interrupts so far. */
uint32_t virtio_net_interrupts(void);

#endif
