/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, 5.2. A request is a chain
 * of a header that the device reads, the data, and a status byte that it writes
 * last. Header and status are in the caller's struct, so the number of requests
 * in flight is limited only by the queue.
 */

#include "virtio_blk.h"

#include "virtio_irq.h"

#include <arch/cpu.h>

#define FEATURE_READ_ONLY ((uint64_t)1 << 5)
#define FEATURE_FLUSH ((uint64_t)1 << 9)

#define CONFIG_CAPACITY 0u /* 64 bits */

#define STATUS_OK 0u
#define STATUS_UNKNOWN 2u
#define STATUS_UNSET 0xffu /* ours, until the device writes its own */

static struct virtio_device device;
static struct virtio_queue queue;
static bool started;
static uint64_t sectors;
static unsigned in_flight;

static int start_device(void *(*allocate)(size_t bytes))
{
    size_t bytes;
    void *memory;

    if (!virtio_find(&device, VIRTIO_BLOCK,
                     FEATURE_READ_ONLY | FEATURE_FLUSH | VIRTIO_ANY_LAYOUT))
        return VIRTIO_BLK_NONE;
    bytes = virtio_queue_bytes(&device, 0);
    if (bytes == 0)
        return VIRTIO_BLK_QUEUES;
    memory = allocate(bytes);
    if (memory == NULL)
        return VIRTIO_BLK_MEMORY;
    if (!virtio_queue_open(&device, &queue, 0, memory))
        return VIRTIO_BLK_QUEUES;
    if (!virtio_irq_on(&device))
        return VIRTIO_BLK_LINE;
    sectors = virtio_config32(&device, CONFIG_CAPACITY) |
              (uint64_t)virtio_config32(&device, CONFIG_CAPACITY + 4) << 32;
    return 0;
}

int virtio_blk_start(void *(*allocate)(size_t bytes))
{
    int error = started ? 0 : start_device(allocate);

    if (error == 0 && !started) {
        virtio_ready(&device);
        started = true;
    }
    return error;
}

uint64_t virtio_blk_sectors(void)
{
    return sectors;
}

bool virtio_blk_read_only(void)
{
    return (device.features & FEATURE_READ_ONLY) != 0;
}

/* Errors of (request) that need no reply of the device. */
static int check(const struct virtio_blk_request *request)
{
    if (request->kind == VIRTIO_BLK_FLUSH)
        return (device.features & FEATURE_FLUSH) != 0 ? 0 : VIRTIO_BLK_UNKNOWN;
    if (request->kind == VIRTIO_BLK_WRITE && virtio_blk_read_only())
        return VIRTIO_BLK_READ_ONLY;
    if (request->bytes == 0 || request->bytes > VIRTIO_BLK_BYTES_MAX ||
        request->bytes % VIRTIO_BLK_SECTOR != 0 || request->sector > sectors ||
        request->bytes / VIRTIO_BLK_SECTOR > sectors - request->sector)
        return VIRTIO_BLK_RANGE;
    return 0;
}

/* Builds the chain of (request) in (parts); returns the number of parts. */
static unsigned chain(struct virtio_blk_request *request,
                      struct virtio_part parts[3])
{
    unsigned count = 0;

    parts[count++] =
        (struct virtio_part){&request->header, sizeof request->header, false};
    if (request->kind != VIRTIO_BLK_FLUSH)
        parts[count++] = (struct virtio_part){request->memory, request->bytes,
                                              request->kind == VIRTIO_BLK_READ};
    parts[count++] =
        (struct virtio_part){(void *)(uintptr_t)&request->status, 1, true};
    return count;
}

int virtio_blk_submit(struct virtio_blk_request *request)
{
    struct virtio_part parts[3];
    int error = check(request);

    if (error != 0)
        return error;
    request->header.kind = request->kind;
    request->header.reserved = 0;
    request->header.sector =
        request->kind == VIRTIO_BLK_FLUSH ? 0 : request->sector;
    request->status = STATUS_UNSET;
    request->submit_tsc = arch_tsc();
    if (!virtio_put(&queue, parts, chain(request, parts), request))
        return VIRTIO_BLK_BUSY;
    in_flight++;
    virtio_kick(&queue);
    return 0;
}

unsigned virtio_blk_poll(void)
{
    struct virtio_blk_request *request;
    uint32_t written;

    while (started && (request = virtio_take(&queue, &written)) != NULL) {
        in_flight--;
        request->done_tsc = arch_tsc();
        request->error = request->status == STATUS_OK ? 0
                         : request->status == STATUS_UNKNOWN
                             ? VIRTIO_BLK_UNKNOWN
                             : VIRTIO_BLK_FAILED;
        request->done(request);
    }
    return in_flight;
}

struct virtio_queue *virtio_blk_queue(void)
{
    return &queue;
}

uint32_t virtio_blk_interrupts(void)
{
    return *(volatile uint32_t *)&device.interrupts;
}
