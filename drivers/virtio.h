/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_H
#define VIRTIO_H

/*
 * Virtio devices on PCI and their queues, whatever the device is. Both faces
 * of the transport are known: the modern one, through memory, where the device
 * has it, and the legacy one, through ports.
 *
 *     virtio_find(&device, VIRTIO_..., features)
 *     for each queue: virtio_queue_open(&device, &queue, index, memory)
 *     virtio_ready(&device)
 *     virtio_put(&queue, parts, ...), virtio_kick(&queue)
 *     virtio_take(&queue, ...)         what the device is done with
 *
 * No interrupts are used: a queue is looked at when somebody wants to know.
 * Contexts: thread. Nothing is allocated here: memory is the caller's, mapped
 * onto itself, and in use until the device is reset.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of devices (Virtual I/O Device Version 1.1, chapter 5). */
#define VIRTIO_NETWORK 1u
#define VIRTIO_CONSOLE 3u

#define VIRTIO_QUEUE_MAX 256u /* entries; larger queues are refused */
#define VIRTIO_PAGE_BYTES 4096u

struct virtio_device {
    uintptr_t notify;         /* port, or address of queue 0's */
    uint32_t notify_step;     /* bytes from one to the next; modern only */
    uint16_t ports;           /* the legacy face; 0 = none */
    volatile uint8_t *common; /* the modern one; NULL = none */
    uint64_t features;        /* that both sides agree on */
};

/* One piece of memory that the device reads, or writes. */
struct virtio_part {
    void *memory;
    uint32_t bytes;
    bool written; /* by the device */
};

struct virtio_queue {
    struct virtio_device *device;
    struct virtio_descriptor *descriptors;
    struct virtio_available *available;
    struct virtio_used *used;
    uintptr_t notify; /* where to kick */
    uint16_t index;   /* which of the device's queues */
    uint16_t size;    /* entries, a power of two */
    uint16_t free;    /* first free entry */
    uint16_t free_count;
    uint16_t seen; /* of used, that were taken */
    void *token[VIRTIO_QUEUE_MAX];
};

/*
 * Finds the first device of (kind) and resets it; agrees on those of
 * (features) that it has. False: there is none, or it wants what we have not.
 */
bool virtio_find(struct virtio_device *device, unsigned kind,
                 uint64_t features);

/* Bytes that queue (index) needs, 0 where it does not exist or is too large. */
size_t virtio_queue_bytes(const struct virtio_device *device, unsigned index);

/*
 * Sets queue (index) up in (memory), which begins on a page and has as many
 * bytes as virtio_queue_bytes() said. False: the device does not want it so.
 */
bool virtio_queue_open(struct virtio_device *device, struct virtio_queue *queue,
                       unsigned index, void *memory);

/* The queues are set up: the device may begin. */
void virtio_ready(struct virtio_device *device);

/*
 * Gives the device a chain of (count) parts, 1 or more; those it reads come
 * before those it writes. (token), not NULL, names it. False: no room.
 */
bool virtio_put(struct virtio_queue *queue, const struct virtio_part *parts,
                unsigned count, void *token);

/* Tells the device that something was put. */
void virtio_kick(struct virtio_queue *queue);

/*
 * The token of the next chain that the device is done with, NULL where there
 * is none, and in (*written) how many bytes it wrote.
 */
void *virtio_take(struct virtio_queue *queue, uint32_t *written);

#endif
