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
 * A queue is looked at when somebody wants to know. A device interrupts only
 * where it was asked to (virtio_irq.h), and then only to end a halt.
 * Contexts: thread. Nothing is allocated here: memory is the caller's, mapped
 * onto itself, and in use until the device is reset.
 *
 * When a request was put and when it was taken back is kept with it and added
 * up; who wants to see each, as a profiler does, calls virtio_watch().
 */

#include "pci.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of devices (Virtual I/O Device Version 1.1, chapter 5). */
#define VIRTIO_NETWORK 1u
#define VIRTIO_BLOCK 2u
#define VIRTIO_CONSOLE 3u

/* Features of every kind of device (chapter 6). */
#define VIRTIO_ANY_LAYOUT ((uint64_t)1 << 27)
#define VIRTIO_VERSION_1 ((uint64_t)1 << 32)

/* Entries of a queue. A modern device is asked to make do with that many, a
 * legacy one cannot be asked, and is refused. */
#define VIRTIO_QUEUE_MAX 256u
#define VIRTIO_PAGE_BYTES 4096u

struct virtio_device {
    uintptr_t notify;         /* port, or address of queue 0's */
    uint32_t notify_step;     /* bytes from one to the next; modern only */
    uint16_t ports;           /* the legacy face; 0 = none */
    volatile uint8_t *common; /* the modern one; NULL = none */
    volatile uint8_t *isr;    /* modern: why it interrupts */
    volatile uint8_t *config; /* modern: what only its kind has */
    uint64_t features;        /* that both sides agree on */
    struct pci_device pci;
    unsigned kind;              /* VIRTIO_... */
    uint32_t interrupts;        /* raised so far; written by virtio_irq.c */
    struct virtio_device *next; /* that interrupts; virtio_irq.c's own */
};

/* One piece of memory that the device reads, or writes. */
struct virtio_part {
    void *memory;
    uint32_t bytes;
    bool written; /* by the device */
};

/* A request that is done with. */
struct virtio_request {
    unsigned kind;      /* of the device, VIRTIO_... */
    unsigned queue;     /* its index */
    uint32_t bytes;     /* that the device was given to read or to write */
    uint64_t put_tsc;   /* when it was put, by the TSC */
    uint64_t taken_tsc; /* when it was taken back: it may have been ready
                           for a while before somebody looked */
};

/* What a queue has done since it was opened. */
struct virtio_counts {
    uint64_t requests;   /* taken back */
    uint64_t bytes;      /* in these */
    uint64_t cycles;     /* between put and taken, summed up */
    uint64_t cycles_max; /* the longest */
    uint64_t kicks;      /* exits that told the device of requests */
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
    struct virtio_counts counts;
    void *token[VIRTIO_QUEUE_MAX];      /* by head of the chain */
    uint64_t put_tsc[VIRTIO_QUEUE_MAX]; /* the same */
    uint32_t put_bytes[VIRTIO_QUEUE_MAX];
};

/*
 * Finds the first device of (kind) and resets it; agrees on those of
 * (features) that it has. False: there is none, or it wants what we have not.
 */
bool virtio_find(struct virtio_device *device, unsigned kind,
                 uint64_t features);

/* Byte (offset) of the configuration that the device's kind has. */
uint8_t virtio_config8(const struct virtio_device *device, unsigned offset);

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

/* Tells the device that something was put, unless it is looking by itself. */
void virtio_kick(struct virtio_queue *queue);

/*
 * The same in two halves: whether the device must be told, which counts as a
 * kick; and then (queue)->index goes to (queue)->notify, an address, or a port
 * where the device has no `common`.
 */
bool virtio_kick_wanted(struct virtio_queue *queue);

/*
 * The token of the next chain that the device is done with, NULL where there
 * is none, and in (*written) how many bytes it wrote.
 */
void *virtio_take(struct virtio_queue *queue, uint32_t *written);

/* Whether virtio_take() would find one. Contexts: any. */
bool virtio_done(const struct virtio_queue *queue);

/*
 * Asks the device to interrupt when it is done with a chain of (queue), or
 * no longer to. Advice, not an order: some come late. Returns virtio_done(),
 * looked at after asking, so that nobody halts for what is there already.
 */
bool virtio_interrupts(struct virtio_queue *queue, bool wanted);

/*
 * Calls (watch) with each request of any device as it is taken back; NULL ends
 * that. Contexts: thread; (watch) runs where virtio_take() was called and must
 * not wait. One watcher at a time.
 */
void virtio_watch(void (*watch)(const struct virtio_request *request));

#endif
