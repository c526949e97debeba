/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_BLK_H
#define VIRTIO_BLK_H

/*
 * The first virtio disk: reads, writes and flushes of whole sectors. Several
 * requests may be in flight and complete in any order.
 *
 *     virtio_blk_start(pages)
 *     request = {VIRTIO_BLK_READ, sector, memory, bytes, done}
 *     virtio_blk_submit(&request)
 *     virtio_blk_poll()             calls done(&request) on completion
 *
 * Contexts: thread.
 */

#include "virtio_queue.h"

#define VIRTIO_BLK_SECTOR 512u
#define VIRTIO_BLK_BYTES_MAX (1u << 20) /* of one request */

enum virtio_blk_error {
    VIRTIO_BLK_NONE = 1,  /* no such device, or it requires other features */
    VIRTIO_BLK_QUEUES,    /* its queue is too large */
    VIRTIO_BLK_MEMORY,    /* (allocate) failed */
    VIRTIO_BLK_LINE,      /* it has no interrupt line */
    VIRTIO_BLK_RANGE,     /* not whole sectors, too many, or past the end */
    VIRTIO_BLK_BUSY,      /* the queue is full: poll, then try again */
    VIRTIO_BLK_READ_ONLY, /* a write to a read-only disk */
    VIRTIO_BLK_FAILED,    /* the device reports an error */
    VIRTIO_BLK_UNKNOWN,   /* the device does not support such requests */
};

enum virtio_blk_kind {
    VIRTIO_BLK_READ = 0,
    VIRTIO_BLK_WRITE = 1,
    VIRTIO_BLK_FLUSH = 4, /* makes earlier writes durable */
};

/* A request, owned by the caller, who MUST keep it until done is called. */
struct virtio_blk_request {
    enum virtio_blk_kind kind;
    uint64_t sector;
    void *memory;   /* of the data; identity-mapped */
    uint32_t bytes; /* whole sectors; 0 for a flush */
    void (*done)(struct virtio_blk_request *request); /* may submit again */
    void *user;                                       /* for the caller */

    int error;           /* 0 or an enum virtio_blk_error; valid in done */
    uint64_t submit_tsc; /* TSC when it was submitted */
    uint64_t done_tsc;   /* TSC when it was taken */

    struct { /* private: the header of the chain */
        uint32_t kind;
        uint32_t reserved;
        uint64_t sector;
    } header;
    volatile uint8_t status;
};

/*
 * Finds and starts the disk. (allocate) returns page-aligned memory or NULL.
 * Returns 0 or an enum virtio_blk_error. Once it has returned 0, later calls do
 * nothing and return 0.
 */
int virtio_blk_start(void *(*allocate)(size_t bytes));

uint64_t virtio_blk_sectors(void);
bool virtio_blk_read_only(void);

/* Submits a request. Returns 0 or an enum virtio_blk_error; done is called only
 * in the first case. */
int virtio_blk_submit(struct virtio_blk_request *request);

/* Calls done for each completed request. Returns how many are in flight. */
unsigned virtio_blk_poll(void);

/* The queue, for interrupts and counts. */
struct virtio_queue *virtio_blk_queue(void);

/* Interrupts so far. */
uint32_t virtio_blk_interrupts(void);

#endif
