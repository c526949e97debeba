/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_QUEUE_H
#define VIRTIO_QUEUE_H

/*
 * Queues of virtio devices of any kind.
 *
 *     virtio_find(&device, VIRTIO_..., features)      virtio.h
 *     for each queue: virtio_queue_open(&device, &queue, index, memory)
 *     virtio_ready(&device)
 *     virtio_put(&queue, parts, ...), virtio_kick(&queue)
 *     virtio_take(&queue, ...)                        completed requests
 *
 * Queues are polled. A device interrupts only if asked to (virtio_irq.h), and
 * only to end a halt. Contexts: thread. Nothing is allocated here: the caller
 * provides the memory, identity-mapped, which is in use until the device is
 * reset.
 *
 * Each request is timed from submission to removal from the queue. A profiler
 * can observe them by virtio_observe().
 */

#include "virtio.h"

/* Entries of a queue. A device can be asked to use fewer; by the legacy
 * interface of PCI it cannot, and is refused if it has more. */
#define VIRTIO_QUEUE_MAX 256u

/* A buffer that the device reads or writes. */
struct virtio_part {
    void *memory;
    uint32_t bytes;
    bool written; /* by the device; else read */
};

/* A completed request. */
struct virtio_request {
    unsigned kind;      /* of the device, VIRTIO_... */
    unsigned queue;     /* its index */
    uint32_t bytes;     /* of its buffers */
    uint32_t number;    /* what the observer of its submission returned */
    uint64_t put_tsc;   /* TSC when it was put */
    uint64_t taken_tsc; /* TSC when it was taken, some time after completion */
};

/* Counts since a queue was opened. */
struct virtio_counts {
    uint64_t requests;   /* taken */
    uint64_t bytes;      /* of these */
    uint64_t cycles;     /* between put and taken, total */
    uint64_t cycles_max; /* the longest */
    uint64_t kicks;      /* notifications of the device, each an exit */
};

struct virtio_queue {
    struct virtio_device *device;
    struct virtio_descriptor *descriptors;
    struct virtio_available *available;
    struct virtio_used *used;
    uintptr_t notify; /* where to kick */
    uint16_t index;   /* of the queue within the device */
    uint16_t size;    /* entries, a power of two */
    uint16_t free;    /* first free entry */
    uint16_t free_count;
    uint16_t seen; /* index of the next used entry */
    struct virtio_counts counts;
    void *token[VIRTIO_QUEUE_MAX];      /* by head of the chain */
    uint64_t put_tsc[VIRTIO_QUEUE_MAX]; /* the same */
    uint32_t put_bytes[VIRTIO_QUEUE_MAX];
    uint32_t put_number[VIRTIO_QUEUE_MAX];
};

/* Bytes that queue (index) needs, 0 if it does not exist or is too large. */
size_t virtio_queue_bytes(const struct virtio_device *device, unsigned index);

/*
 * Sets up queue (index) in (memory), page-aligned and of the size that
 * virtio_queue_bytes() returned. False: the device refused.
 */
bool virtio_queue_open(struct virtio_device *device, struct virtio_queue *queue,
                       unsigned index, void *memory);

/*
 * Submits a chain of (count) parts, 1 or more; those that the device reads come
 * first. (token), not NULL, identifies it. False: the queue is full.
 */
bool virtio_put(struct virtio_queue *queue, const struct virtio_part *parts,
                unsigned count, void *token);

/* Notifies the device of submitted chains, unless it is polling the queue. */
void virtio_kick(struct virtio_queue *queue);

/*
 * The first half of virtio_kick(): returns whether the device must be notified
 * and, if so, counts a kick. The caller then stores (queue)->index at
 * (queue)->notify, as the device's transport has it.
 */
bool virtio_kick_wanted(struct virtio_queue *queue);

/*
 * Returns the token of the next completed chain, NULL if there is none, and in
 * (*written) how many bytes the device wrote.
 */
void *virtio_take(struct virtio_queue *queue, uint32_t *written);

/* Whether virtio_take() would return a chain. Contexts: any. */
bool virtio_done(const struct virtio_queue *queue);

/* Chains that have been completed so far, modulo 65,536. Contexts: any. */
uint16_t virtio_completed(const struct virtio_queue *queue);

/* Whether all chains that were submitted have been completed. */
bool virtio_all_done(const struct virtio_queue *queue);

/*
 * Asks the device to raise an interrupt when it completes a chain of (queue),
 * or to stop doing so; a few may still come. Returns virtio_done() as read
 * afterwards, so that the caller does not halt if a chain is already completed.
 */
bool virtio_interrupts(struct virtio_queue *queue, bool wanted);

/*
 * Sets a function that virtio_take() calls with each request of any device;
 * NULL for none. There is one at a time. (observe) MUST NOT wait. Contexts:
 * thread.
 */
void virtio_observe(void (*observe)(const struct virtio_request *request));

/* The same for virtio_put(): (observe) gets the kind of the device and the
 * queue's index, and may return a number for the request. */
void virtio_observe_put(uint32_t (*observe)(unsigned kind, unsigned queue));

#endif
