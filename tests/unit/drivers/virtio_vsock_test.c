/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtio socket device: blocks, the order of its queues, and what it may
 * write into them. The queues are this file's.
 */

#include "../unit.h"

/* instead of the header's instructions, which a program may not use */
#define ARCH_CPU_H

static unsigned reads, waits;

static uint8_t arch_in8(uint16_t port)
{
    (void)port;
    reads++;
    return 0;
}

static void arch_pause(void)
{
    waits++;
}

#include "../../../drivers/vsock.c"

#include "../../../drivers/virtio_vsock.c"

#define CHAINS 64u

/* What the device was given, and has not taken yet. */
static struct chain {
    struct virtio_part parts[2];
    unsigned count;
    void *token;
    uint32_t written;
} given[3][CHAINS], completed[3][CHAINS];
static unsigned given_count[3], completed_count[3], kicks[3];
static uint32_t config[2];
static uint64_t offered_features;
static bool is_there, is_ready;
static unsigned allocations, allocations_most, missing_queue;
static void *memory[8];

bool virtio_find(struct virtio_device *found, unsigned kind, uint64_t features)
{
    assert_int_equal(kind, 19);
    found->features = offered_features & features;
    return is_there;
}

void virtio_ready(struct virtio_device *ready)
{
    (void)ready;
    is_ready = true;
}

/* Firecracker answers accesses of 32 bits, and none of 8. */
uint32_t virtio_config32(const struct virtio_device *of, unsigned offset)
{
    (void)of;
    assert_true(offset == 0 || offset == 4);
    return config[offset / 4];
}

size_t virtio_queue_bytes(const struct virtio_device *of, unsigned index)
{
    (void)of;
    return index == missing_queue ? 0 : 1;
}

bool virtio_queue_open(struct virtio_device *of, struct virtio_queue *queue,
                       unsigned index, void *tables)
{
    (void)of, (void)tables;
    queue->index = (uint16_t)index;
    return true;
}

bool virtio_put(struct virtio_queue *queue, const struct virtio_part *parts,
                unsigned count, void *token)
{
    struct chain *chain = &given[queue->index][given_count[queue->index]];

    assert_true(count >= 1 && count <= 2);
    if (is_ready) /* an interrupt now would find the queues half changed */
        assert_true(vsock_busy(virtio_vsock()));
    if (given_count[queue->index] == CHAINS)
        return false;
    memcpy(chain->parts, parts, count * sizeof *parts);
    chain->count = count;
    chain->token = token;
    given_count[queue->index]++;
    return true;
}

void virtio_kick(struct virtio_queue *queue)
{
    assert_true(is_ready);
    kicks[queue->index]++;
}

void *virtio_take(struct virtio_queue *queue, uint32_t *written)
{
    struct chain *list = completed[queue->index];
    struct chain first = list[0];

    assert_true(vsock_busy(virtio_vsock()));
    if (completed_count[queue->index] == 0)
        return NULL;
    completed_count[queue->index]--;
    memmove(list, list + 1, completed_count[queue->index] * sizeof *list);
    *written = first.written;
    return first.token;
}

/* The device completes the oldest chain of queue (index). */
static struct chain complete(unsigned index, uint32_t written)
{
    struct chain *chain = &completed[index][completed_count[index]++];

    assert_true(given_count[index] > 0);
    *chain = given[index][0];
    chain->written = written;
    given_count[index]--;
    memmove(given[index], given[index] + 1,
            given_count[index] * sizeof given[index][0]);
    return *chain;
}

static void *allocate(size_t bytes)
{
    if (allocations == allocations_most)
        return NULL;
    /* not cleared: pages are not */
    memory[allocations] = malloc(bytes);
    memset(memory[allocations], 0xa5, bytes);
    return memory[allocations++];
}

static void begin_test(void)
{
    memset(given_count, 0, sizeof given_count);
    memset(completed_count, 0, sizeof completed_count);
    memset(kicks, 0, sizeof kicks);
    memset(config, 0, sizeof config);
    config[0] = 3;
    offered_features = 1;
    is_there = true;
    is_ready = started = false;
    allocations = 0;
    allocations_most = COUNT(memory);
    missing_queue = 3;
}

static void end_test(void)
{
    for (unsigned i = 0; i < allocations; i++)
        free(memory[i]);
    state = NULL;
    started = false;
}

FIXTURE(begin_test, end_test);

/* The device sends the guest a packet to port 52. */
static void deliver(unsigned op, uint32_t port, const void *data,
                    uint32_t bytes, uint32_t written)
{
    const struct vsock_header header = {.src_cid = 2,
                                        .dst_cid = 3,
                                        .src_port = port,
                                        .dst_port = 52,
                                        .len = bytes,
                                        .type = 1,
                                        .op = (uint16_t)op,
                                        .buf_alloc = 65536};
    struct chain chain = complete(QUEUE_IN, written);

    memcpy(chain.parts[0].memory, &header, sizeof header);
    if (bytes != 0)
        memcpy(chain.parts[1].memory, data, bytes);
}

static struct vsock_header sent(unsigned index)
{
    struct vsock_header header;

    memcpy(&header, given[QUEUE_OUT][index].parts[0].memory, sizeof header);
    return header;
}

TEST(what_is_missing_is_named)
{
    is_there = false;
    assert_int_equal(virtio_vsock_start(allocate), VIRTIO_VSOCK_NONE);
    is_there = true;
    offered_features = 4 | 2; /* no stream, and it is not implied */
    assert_int_equal(virtio_vsock_start(allocate), VIRTIO_VSOCK_STREAM);
    offered_features = 0;
    for (unsigned i = 0; i < 4; i++) {
        allocations_most = allocations + i;
        assert_int_equal(virtio_vsock_start(allocate), VIRTIO_VSOCK_MEMORY);
        end_test();
        allocations = 0;
    }
    allocations_most = COUNT(memory);
    for (missing_queue = 0; missing_queue < 3; missing_queue++) {
        assert_int_equal(virtio_vsock_start(allocate), VIRTIO_VSOCK_QUEUES);
        end_test();
        allocations = 0;
    }
    assert_null(virtio_vsock());
    virtio_vsock_poll();
    assert_false(is_ready);
}

/* 5.10.5: the CID, then buffers for events and packets; nobody is notified
 * before the device is ready. */
TEST(a_device_is_started)
{
    config[1] = 1; /* reserved */
    config[0] |= 0x100;
    assert_int_equal(virtio_vsock_start(allocate), 0);
    assert_int_equal(virtio_vsock()->cid, 259);
    assert_int_equal(given_count[QUEUE_IN], IN_BLOCKS);
    assert_int_equal(given_count[QUEUE_EVENT], EVENTS);
    assert_int_equal(given[QUEUE_IN][0].count, 2);
    assert_int_equal(given[QUEUE_IN][0].parts[0].bytes, 44);
    assert_true(given[QUEUE_IN][0].parts[1].written);
    assert_int_equal(kicks[QUEUE_IN], 1);
    assert_int_equal(kicks[QUEUE_EVENT], 1);
    assert_int_equal(virtio_vsock_start(allocate), 0);
    assert_int_equal(given_count[QUEUE_IN], IN_BLOCKS);
}

/* A service that polls and sends is interrupted: the double of the queues, of
 * which each call asks. */
TEST(whoever_calls_the_sockets_are_busy)
{
    assert_int_equal(virtio_vsock_start(allocate), 0);
    assert_false(vsock_busy(virtio_vsock()));
    assert_true(vsock_connect(virtio_vsock(), VSOCK_HOST, 1) >= 0);
    assert_int_equal(given_count[QUEUE_OUT], 1);
    virtio_vsock_poll();
    assert_true(vsock_close(virtio_vsock(), 0));
    assert_false(vsock_busy(virtio_vsock()));
}

TEST(packets_are_taken_and_answered)
{
    char got[8];

    assert_int_equal(virtio_vsock_start(allocate), 0);
    assert_true(vsock_listen(virtio_vsock(), 52));
    deliver(VSOCK_OP_REQUEST, 9, NULL, 0, 44);
    deliver(VSOCK_OP_RW, 9, "stop\n", 5, 49);
    virtio_vsock_poll();
    assert_int_equal(given_count[QUEUE_IN], IN_BLOCKS);
    assert_int_equal(kicks[QUEUE_IN], 2);
    assert_int_equal(given_count[QUEUE_OUT], 1);
    assert_int_equal(given[QUEUE_OUT][0].count, 1);
    assert_int_equal(sent(0).op, VSOCK_OP_RESPONSE);
    assert_int_equal(vsock_accept(virtio_vsock(), 52), 0);
    assert_int_equal(vsock_receive(virtio_vsock(), 0, got, 8), 5);
    assert_memory_equal(got, "stop\n", 5);
    assert_true(vsock_send(virtio_vsock(), 0, "ok", 2));
    assert_int_equal(given[QUEUE_OUT][1].count, 2);
    assert_false(given[QUEUE_OUT][1].parts[1].written);
    assert_int_equal(given[QUEUE_OUT][1].parts[1].bytes, 2);
    assert_memory_equal(given[QUEUE_OUT][1].parts[1].memory, "ok", 2);
}

/* What the device says of lengths is not believed beyond the buffer. */
TEST(lengths_of_the_device_are_checked)
{
    uint8_t data[VSOCK_ROOM];

    memset(data, 'a', sizeof data);
    assert_int_equal(virtio_vsock_start(allocate), 0);
    assert_true(vsock_listen(virtio_vsock(), 52));
    deliver(VSOCK_OP_REQUEST, 9, NULL, 0, 43);
    virtio_vsock_poll();
    assert_int_equal(virtio_vsock()->counts.strange, 1);
    deliver(VSOCK_OP_REQUEST, 9, NULL, 0, 0);
    virtio_vsock_poll();
    assert_int_equal(virtio_vsock()->counts.strange, 2);
    assert_int_equal(given_count[QUEUE_OUT], 0);
    deliver(VSOCK_OP_REQUEST, 9, NULL, 0, UINT32_MAX);
    deliver(VSOCK_OP_RW, 9, data, sizeof data, UINT32_MAX);
    virtio_vsock_poll();
    assert_int_equal(vsock_available(virtio_vsock(), 0), VSOCK_ROOM);
    deliver(VSOCK_OP_RW, 9, data, 8, 44 + 7);
    virtio_vsock_poll();
    assert_int_equal(virtio_vsock()->counts.strange, 3);
}

/* 5.10.6.1: while nothing can be answered, packets wait in the queue. */
TEST(packets_wait_for_blocks)
{
    assert_int_equal(virtio_vsock_start(allocate), 0);
    for (unsigned i = 0; i < CONTROLS; i++)
        deliver(VSOCK_OP_RW, 100 + i, NULL, 0, 44);
    virtio_vsock_poll();
    assert_int_equal(given_count[QUEUE_OUT], CONTROLS); /* resets */
    deliver(VSOCK_OP_RW, 99, NULL, 0, 44);
    virtio_vsock_poll();
    assert_int_equal(given_count[QUEUE_OUT], CONTROLS);
    assert_int_equal(completed_count[QUEUE_IN], 1);
    complete(QUEUE_OUT, 0);
    virtio_vsock_poll();
    assert_int_equal(completed_count[QUEUE_IN], 0);
    assert_int_equal(given_count[QUEUE_OUT], CONTROLS);
    assert_int_equal(sent(CONTROLS - 1).dst_port, 99);
    assert_int_equal(virtio_vsock()->counts.unsent, 0);
}

TEST(data_waits_for_blocks)
{
    static const char data[VIRTIO_VSOCK_BLOCK + 1];
    unsigned count = 0;

    assert_int_equal(virtio_vsock_start(allocate), 0);
    assert_true(vsock_listen(virtio_vsock(), 52));
    deliver(VSOCK_OP_REQUEST, 9, NULL, 0, 44);
    virtio_vsock_poll();
    assert_false(vsock_send(virtio_vsock(), 0, data, sizeof data));
    while (vsock_send(virtio_vsock(), 0, data, 100))
        count++;
    assert_int_equal(count, OUT_BLOCKS);
    complete(QUEUE_OUT, 0); /* the response: not a block of data */
    assert_false(vsock_send(virtio_vsock(), 0, data, 100));
    complete(QUEUE_OUT, 0);
    assert_true(vsock_send(virtio_vsock(), 0, data, 100));
    assert_false(vsock_send(virtio_vsock(), 0, data, 100));
}

/* 5.10.6.7 */
TEST(a_reset_of_the_transport_has_a_new_cid)
{
    struct chain event;

    assert_int_equal(virtio_vsock_start(allocate), 0);
    assert_true(vsock_listen(virtio_vsock(), 52));
    deliver(VSOCK_OP_REQUEST, 9, NULL, 0, 44);
    virtio_vsock_poll();
    event = complete(QUEUE_EVENT, 4); /* of another kind */
    memcpy(event.parts[0].memory, &(uint32_t){1}, 4);
    event = complete(QUEUE_EVENT, 3); /* too short */
    memcpy(event.parts[0].memory, &(uint32_t){0}, 4);
    virtio_vsock_poll();
    assert_int_equal(virtio_vsock()->counts.resets, 0);
    assert_int_equal(vsock_state(virtio_vsock(), 0), VSOCK_OPEN);
    config[0] = 8;
    event = complete(QUEUE_EVENT, 4);
    memcpy(event.parts[0].memory, &(uint32_t){0}, 4);
    virtio_vsock_poll();
    assert_int_equal(virtio_vsock()->counts.resets, 1);
    assert_int_equal(virtio_vsock()->cid, 8);
    assert_int_equal(vsock_state(virtio_vsock(), 0), VSOCK_CLOSED);
    assert_int_equal(given_count[QUEUE_EVENT], EVENTS);
    assert_int_equal(kicks[QUEUE_EVENT], 3);
}

/* An access takes the lock that QEMU's other thread waits for. */
TEST(accesses_are_rare)
{
    reads = waits = 0;
    virtio_vsock_pause();
    assert_int_equal(reads, 1);
    assert_true(waits >= 16);
}
