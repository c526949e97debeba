/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_BLK_H
#define VIRTIO_BLK_H

/*
 * The first virtio disk: reads, writes and flushes of whole sectors, several
 * of them on their way at a time and finished in any order.
 *
 *     virtio_blk_start(pages)
 *     request = {VIRTIO_BLK_READ, sector, memory, bytes, done}
 *     virtio_blk_submit(&request)
 *     virtio_blk_poll()             calls done(&request) when it is
 *
 * Contexts: thread.
 */

#include "virtio.h"

#define VIRTIO_BLK_SECTOR 512u
#define VIRTIO_BLK_BYTES_MAX (1u << 20) /* of one request */

enum virtio_blk_error {
    VIRTIO_BLK_NONE = 1,  /* no such device, or it wants what we lack */
    VIRTIO_BLK_QUEUES,    /* its queue is larger than we can make it */
    VIRTIO_BLK_MEMORY,    /* (allocate) refused */
    VIRTIO_BLK_LINE,      /* no interrupt line is wired to it */
    VIRTIO_BLK_RANGE,     /* no whole sectors, too many, or beyond the end */
    VIRTIO_BLK_BUSY,      /* the queue is full: poll, then try again */
    VIRTIO_BLK_READ_ONLY, /* a write to a disk that takes none */
    VIRTIO_BLK_FAILED,    /* the device could not do it */
    VIRTIO_BLK_UNKNOWN,   /* the device does not know such requests */
};

enum virtio_blk_kind {
    VIRTIO_BLK_READ = 0,
    VIRTIO_BLK_WRITE = 1,
    VIRTIO_BLK_FLUSH = 4, /* all that was written before is on the disk */
};

/* One request: the caller's memory, and the device's until done is called. */
struct virtio_blk_request {
    enum virtio_blk_kind kind;
    uint64_t sector;
    void *memory;   /* read from or written to; mapped onto itself */
    uint32_t bytes; /* whole sectors; 0 for a flush */
    void (*done)(struct virtio_blk_request *request); /* may submit again */
    void *user;                                       /* the caller's own */

    int error;           /* 0 or an enum virtio_blk_error; valid in done */
    uint64_t submit_tsc; /* when it was submitted, by the TSC */
    uint64_t done_tsc;   /* when it was found done */

    struct { /* as the device wants it; the driver's own */
        uint32_t kind;
        uint32_t reserved;
        uint64_t sector;
    } header;
    volatile uint8_t status;
};

/*
 * Finds the disk and makes it ready, in memory from (allocate), which gives
 * pages, or NULL. Returns 0 or an enum virtio_blk_error; after 0 it is done
 * for good and says 0 again.
 */
int virtio_blk_start(void *(*allocate)(size_t bytes));

uint64_t virtio_blk_sectors(void);
bool virtio_blk_read_only(void);

/* Puts a request and tells the device. Returns 0 or an enum virtio_blk_error,
 * and then done is not called. */
int virtio_blk_submit(struct virtio_blk_request *request);

/* Calls done for each request that is. Returns how many are on their way. */
unsigned virtio_blk_poll(void);

/* The queue, for interrupts and counts. */
struct virtio_queue *virtio_blk_queue(void);

/* Interrupts so far. */
uint32_t virtio_blk_interrupts(void);

#endif
