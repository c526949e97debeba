/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the end of a stream waits for a virtio console, on a host that takes
 * blocks late or never. Port, pause and queues are this file's.
 */

#include "../unit.h"

/* instead of the header's instructions, which a program may not use */
#define ARCH_CPU_H

static struct {
    uint64_t late;  /* reads of the port from one taken block to the next */
    uint64_t reads; /* since then */
    uint64_t all_reads;
    unsigned pauses, pauses_least; /* since a read; between any two */
    void *in_flight[16];
    unsigned begin, end;
} host;

static uint8_t arch_in8(uint16_t port)
{
    (void)port;
    if (host.pauses < host.pauses_least)
        host.pauses_least = host.pauses;
    host.pauses = 0;
    host.all_reads++;
    host.reads++;
    return 0;
}

static void arch_pause(void)
{
    host.pauses++;
}

#include "../../../drivers/virtio_console.c"

bool virtio_find(struct virtio_device *found, unsigned kind, uint64_t features)
{
    (void)found, (void)kind, (void)features;
    return true;
}

void virtio_ready(struct virtio_device *ready)
{
    (void)ready;
}

size_t virtio_queue_bytes(const struct virtio_device *of, unsigned index)
{
    (void)of, (void)index;
    return 1;
}

bool virtio_queue_open(struct virtio_device *of, struct virtio_queue *queue,
                       unsigned index, void *memory)
{
    (void)of, (void)memory;
    queue->index = (uint16_t)index;
    return true;
}

bool virtio_put(struct virtio_queue *queue, const struct virtio_part *parts,
                unsigned count, void *token)
{
    (void)parts, (void)count;
    if (queue->index == QUEUE_OUT)
        host.in_flight[host.end++] = token;
    return true;
}

bool virtio_irq_on(struct virtio_device *of)
{
    (void)of;
    return true;
}

bool virtio_interrupts(struct virtio_queue *queue, bool wanted)
{
    (void)queue, (void)wanted;
    return false;
}

void virtio_kick(struct virtio_queue *queue)
{
    (void)queue;
}

void *virtio_take(struct virtio_queue *queue, uint32_t *written)
{
    *written = 0;
    if (queue->index != QUEUE_OUT || host.begin == host.end ||
        host.reads < host.late)
        return NULL;
    host.reads = 0;
    return host.in_flight[host.begin++];
}

static void *allocate(size_t bytes)
{
    static uint8_t memory[BLOCKS_MAX * VIRTIO_CONSOLE_BLOCK];

    (void)bytes;
    return memory;
}

/* Sends so many blocks to a host that is so late, and waits for their end. */
static void finish(unsigned blocks_sent, uint64_t late)
{
    host.begin = host.end = 0;
    host.reads = host.all_reads = 0;
    host.late = late;
    host.pauses = 0;
    host.pauses_least = UINT32_MAX;
    started = false;
    assert_true(virtio_console_start(allocate));
    for (unsigned i = 0; i < blocks_sent; i++)
        assert_true(virtio_console_send("x", 1));
    virtio_console_finish();
}

TEST(nothing_sent_is_no_wait)
{
    finish(0, 0);
    assert_int_equal(host.all_reads, 0);
}

TEST(every_block_has_its_time)
{
    finish(15, 400000);
    assert_int_equal(host.begin, 15);
}

/* An access takes the lock that QEMU's other thread waits for. */
TEST(accesses_are_rare)
{
    finish(2, 1000);
    assert_int_equal(host.begin, 2);
    assert_true(host.pauses_least >= 16);
}

TEST(a_dead_host_is_given_up)
{
    finish(3, UINT64_MAX);
    assert_int_equal(host.begin, 0);
    assert_in_range(host.all_reads, 100000, 2000000);
}
