/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_NET_H
#define VIRTIO_NET_H

/*
 * The first virtio network device: sends and receives Ethernet frames, as many
 * in flight as its queues have entries.
 *
 *     out: room = virtio_net_room(), write the frame there,
 *          virtio_net_put(bytes, sum), then, possibly later, a kick
 *     in:  frame = virtio_net_take(&bytes, &sum_good), read it,
 *          virtio_net_give_back(frame), finally virtio_net_offer()
 *
 * Frames are built and read in the device's own buffers. Contexts: thread.
 */

#include "virtio_queue.h"

#define VIRTIO_NET_FRAME_MAX 1514u
#define VIRTIO_NET_MAC 6u

/* Checksum of TCP or UDP to be computed by the device: the sum from `start` to
 * the end of the frame is stored at `start` + `offset`, where the frame
 * contains the sum of the pseudo header. `start` 0: no checksum. */
struct virtio_net_sum {
    uint16_t start;
    uint16_t offset;
};

enum virtio_net_error {
    VIRTIO_NET_NONE = 1, /* no such device, or it requires other features */
    VIRTIO_NET_QUEUES,   /* its queues are too large */
    VIRTIO_NET_MEMORY,   /* (allocate) failed */
    VIRTIO_NET_LINE,     /* it has no interrupt line */
};

/*
 * Finds and starts the device. (allocate) returns page-aligned memory or NULL.
 * Returns 0 or an enum virtio_net_error. Once it has returned 0, later calls do
 * nothing and return 0.
 */
int virtio_net_start(void *(*allocate)(size_t bytes));

void virtio_net_mac(uint8_t mac[VIRTIO_NET_MAC]);

/* Whether the device computes checksums (struct virtio_net_sum). */
bool virtio_net_sums(void);

/*
 * A buffer of VIRTIO_NET_FRAME_MAX bytes, or NULL if all are in flight. Returns
 * the same one until virtio_net_put().
 */
uint8_t *virtio_net_room(void);

/* Queues the frame of (bytes) bytes in the buffer of virtio_net_room(). */
void virtio_net_put(size_t bytes, const struct virtio_net_sum *sum);

/*
 * The next received frame and its length, or NULL. (*sum_good): the host has
 * verified its TCP or UDP checksum.
 */
const uint8_t *virtio_net_take(size_t *bytes, bool *sum_good);

/*
 * When the frame that was taken last has arrived, by the TSC: as its interrupt
 * saw it, or now without one. Without virtio_net_stamp(): 0. While it is on,
 * interrupts of `in` should be wanted all the time.
 */
uint64_t virtio_net_arrived(void);
void virtio_net_stamp(bool on);

/* Returns the buffer of a frame; the device may use it from the next offer. */
void virtio_net_give_back(const uint8_t *frame);
void virtio_net_offer(void);

/* Both queues, for kicks, interrupts and counts. The caller of virtio_net_put()
 * kicks `out`. */
struct virtio_queue *virtio_net_in(void);
struct virtio_queue *virtio_net_out(void);

/* Interrupts so far. */
uint32_t virtio_net_interrupts(void);

#endif
