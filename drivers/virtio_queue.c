/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, OASIS: 2.6 (split queues).
 *
 * A queue is three tables in shared memory:
 *
 *     descriptors   buffers; those of one request are linked to a chain
 *     available     heads of submitted chains, written by the driver
 *     used          heads of completed chains, written by the device
 *
 * Each side writes an entry and then its index, and never the other's table.
 *
 *   (V) the store to available.index releases the chain before it
 *   (U) the load of used.index acquires the entries before it
 */

#include "virtio_queue.h"

#include <arch/cpu.h>

#define FLAG_NEXT 1u
#define FLAG_WRITTEN 2u
#define AVAILABLE_NO_INTERRUPT 1u
#define USED_NO_NOTIFY 1u

struct virtio_descriptor {
    uint64_t address;
    uint32_t bytes;
    uint16_t flags;
    uint16_t next;
};

struct virtio_available {
    uint16_t flags;
    uint16_t index;
    uint16_t ring[];
};

struct virtio_used {
    uint16_t flags;
    uint16_t index;
    struct {
        uint32_t head;
        uint32_t written;
    } ring[];
};

static size_t page_up(size_t bytes)
{
    return (bytes + VIRTIO_PAGE_BYTES - 1) / VIRTIO_PAGE_BYTES *
           VIRTIO_PAGE_BYTES;
}

/* Offset of the used table. It begins on a page, as the legacy interface
 * requires. */
static size_t used_offset(size_t size)
{
    return page_up(size * sizeof(struct virtio_descriptor) +
                   sizeof(struct virtio_available) +
                   (size + 1) * sizeof(uint16_t));
}

/* Selects queue (index); returns its size, 0 if there is none that fits. */
static uint16_t select_queue(const struct virtio_device *device, unsigned index)
{
    uint16_t size = device->transport->select_queue(device, index);

    if (size > VIRTIO_QUEUE_MAX)
        size = device->transport->limit_queue(device, VIRTIO_QUEUE_MAX);
    if (size > VIRTIO_QUEUE_MAX || (size & (size - 1)) != 0)
        return 0;
    return size;
}

static size_t bytes_of(size_t size)
{
    if (size == 0)
        return 0;
    return used_offset(size) +
           page_up(sizeof(struct virtio_used) + 8 * size + sizeof(uint16_t));
}

size_t virtio_queue_bytes(const struct virtio_device *device, unsigned index)
{
    return bytes_of(select_queue(device, index));
}

bool virtio_queue_open(struct virtio_device *device, struct virtio_queue *queue,
                       unsigned index, void *memory)
{
    const uint16_t size = select_queue(device, index);
    const size_t bytes = bytes_of(size);
    uint8_t *base = memory;

    if (bytes == 0 || (uintptr_t)memory % VIRTIO_PAGE_BYTES != 0)
        return false;
    for (size_t i = 0; i < bytes; i++)
        base[i] = 0;
    *queue = (struct virtio_queue){
        .device = device,
        .descriptors = memory,
        .available = (void *)(base + size * sizeof(struct virtio_descriptor)),
        .used = (void *)(base + used_offset(size)),
        .index = (uint16_t)index,
        .size = size,
        .free_count = size,
    };
    for (uint16_t i = 0; i < size; i++)
        queue->descriptors[i].next = (uint16_t)(i + 1);
    queue->available->flags = AVAILABLE_NO_INTERRUPT;
    queue->notify = device->transport->enable_queue(
        device, &(struct virtio_tables){size, queue->descriptors,
                                        queue->available, queue->used});
    return queue->notify != 0;
}

static void (*observer)(const struct virtio_request *request);
static uint32_t (*put_observer)(unsigned kind, unsigned queue);

void virtio_observe(void (*observe)(const struct virtio_request *request))
{
    observer = observe;
}

void virtio_observe_put(uint32_t (*observe)(unsigned kind, unsigned queue))
{
    put_observer = observe;
}

bool virtio_put(struct virtio_queue *queue, const struct virtio_part *parts,
                unsigned count, void *token)
{
    struct virtio_available *available = queue->available;
    uint16_t head = queue->free;
    uint16_t at = head;

    if (count == 0 || count > queue->free_count)
        return false;
    queue->put_bytes[head] = 0;
    for (unsigned i = 0; i < count; i++) {
        struct virtio_descriptor *part = &queue->descriptors[at];

        part->address = (uintptr_t)parts[i].memory;
        part->bytes = parts[i].bytes;
        queue->put_bytes[head] += parts[i].bytes;
        part->flags = (uint16_t)((parts[i].written ? FLAG_WRITTEN : 0) |
                                 (i + 1 < count ? FLAG_NEXT : 0));
        at = part->next;
    }
    queue->free = at;
    queue->free_count = (uint16_t)(queue->free_count - count);
    queue->token[head] = token;
    queue->put_number[head] =
        put_observer == NULL ? 0
                             : put_observer(queue->device->kind, queue->index);
    queue->put_tsc[head] = arch_tsc();
    available->ring[available->index % queue->size] = head;
    __atomic_store_n(&available->index, (uint16_t)(available->index + 1),
                     __ATOMIC_RELEASE); /* (V) */
    return true;
}

/* The fence orders the store to available.index before the load of flags. */
bool virtio_kick_wanted(struct virtio_queue *queue)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if ((*(volatile uint16_t *)&queue->used->flags & USED_NO_NOTIFY) != 0)
        return false;
    queue->counts.kicks++;
    return true;
}

void virtio_kick(struct virtio_queue *queue)
{
    if (!virtio_kick_wanted(queue))
        return;
    switch (queue->device->notify_by) {
    case VIRTIO_NOTIFY_PORT:
        arch_out16((uint16_t)queue->notify, queue->index);
        break;
    case VIRTIO_NOTIFY_16:
        *(volatile uint16_t *)queue->notify = queue->index;
        break;
    case VIRTIO_NOTIFY_32:
        *(volatile uint32_t *)queue->notify = queue->index;
        break;
    }
}

/* Returns the chain that begins at (head) to the free list. */
static void release(struct virtio_queue *queue, uint16_t head)
{
    uint16_t last = head;
    uint16_t count = 1;

    while ((queue->descriptors[last].flags & FLAG_NEXT) != 0) {
        last = queue->descriptors[last].next;
        count++;
    }
    queue->descriptors[last].next = queue->free;
    queue->free = head;
    queue->free_count = (uint16_t)(queue->free_count + count);
}

static void count(struct virtio_queue *queue, uint16_t head)
{
    struct virtio_counts *counts = &queue->counts;
    const struct virtio_request request = {
        .kind = queue->device->kind,
        .queue = queue->index,
        .bytes = queue->put_bytes[head],
        .number = queue->put_number[head],
        .put_tsc = queue->put_tsc[head],
        .taken_tsc = arch_tsc(),
    };
    uint64_t cycles = request.taken_tsc - request.put_tsc;

    counts->requests++;
    counts->bytes += request.bytes;
    counts->cycles += cycles;
    if (cycles > counts->cycles_max)
        counts->cycles_max = cycles;
    if (observer != NULL)
        observer(&request);
}

uint16_t virtio_completed(const struct virtio_queue *queue)
{
    return __atomic_load_n(&queue->used->index, __ATOMIC_ACQUIRE); /* (U) */
}

bool virtio_done(const struct virtio_queue *queue)
{
    return virtio_completed(queue) != queue->seen;
}

bool virtio_all_done(const struct virtio_queue *queue)
{
    return virtio_completed(queue) == queue->available->index;
}

bool virtio_interrupts(struct virtio_queue *queue, bool wanted)
{
    *(volatile uint16_t *)&queue->available->flags =
        wanted ? 0 : AVAILABLE_NO_INTERRUPT;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return virtio_done(queue);
}

void *virtio_take(struct virtio_queue *queue, uint32_t *written)
{
    struct virtio_used *used = queue->used;
    uint32_t head;

    if (!virtio_done(queue))
        return NULL;
    head = used->ring[queue->seen % queue->size].head % queue->size;
    *written = used->ring[queue->seen % queue->size].written;
    queue->seen++;
    release(queue, (uint16_t)head);
    count(queue, (uint16_t)head);
    return queue->token[head];
}
