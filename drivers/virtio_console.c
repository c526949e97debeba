/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, 5.3. No optional features
 * are negotiated, so there is one port: queue 0 for input, queue 1 for output.
 *
 * The cost of a block is one exit, nearly independent of its size, so blocks
 * are large. There are several, so that a slow host does not delay the sender.
 */

#include "virtio_console.h"

#include "virtio_irq.h"
#include "virtio_queue.h"

#include <arch/cpu.h>

#define QUEUE_IN 0u
#define QUEUE_OUT 1u
#define BLOCKS_MAX 16u
#define IN_BYTES 128u
#define FINISH_POLLS_MAX 500000u /* without a completed block; seconds */
#define FINISH_PAUSES 32u        /* of a poll; they leave QEMU's lock alone */
#define DELAY_PORT 0x80u         /* a read takes about 1 us */

static struct virtio_device device;
static struct virtio_queue in, out;
static bool started;

static uint8_t *blocks;           /* BLOCKS_MAX of them */
static uint8_t *idle[BLOCKS_MAX]; /* blocks not in flight */
static unsigned idle_count;

static uint8_t received[IN_BYTES]; /* owned by the device if all is read */
static uint32_t unread, unread_at;

static void copy(uint8_t *to, const uint8_t *from, size_t bytes)
{
    __asm__ volatile("rep movsb"
                     : "+D"(to), "+S"(from), "+c"(bytes)
                     :
                     : "memory");
}

static void offer_room(void)
{
    const struct virtio_part part = {received, IN_BYTES, true};

    if (virtio_put(&in, &part, 1, received))
        virtio_kick(&in);
}

static bool open_queue(struct virtio_queue *queue, unsigned index,
                       void *(*allocate)(size_t bytes))
{
    size_t bytes = virtio_queue_bytes(&device, index);
    void *memory = bytes != 0 ? allocate(bytes) : NULL;

    return memory != NULL && virtio_queue_open(&device, queue, index, memory);
}

bool virtio_console_start(void *(*allocate)(size_t bytes))
{
    if (started)
        return true;
    if (!virtio_find(&device, VIRTIO_CONSOLE, 0) ||
        !open_queue(&in, QUEUE_IN, allocate) ||
        !open_queue(&out, QUEUE_OUT, allocate))
        return false;
    blocks = allocate((size_t)BLOCKS_MAX * VIRTIO_CONSOLE_BLOCK);
    if (blocks == NULL)
        return false;
    for (idle_count = 0; idle_count < BLOCKS_MAX; idle_count++)
        idle[idle_count] = blocks + (size_t)idle_count * VIRTIO_CONSOLE_BLOCK;
    virtio_ready(&device);
    offer_room();
    started = true;
    return true;
}

/* Takes completed blocks. */
static void collect(void)
{
    uint32_t written;
    uint8_t *block;

    while ((block = virtio_take(&out, &written)) != NULL)
        idle[idle_count++] = block;
}

bool virtio_console_send(const void *data, size_t bytes)
{
    struct virtio_part part = {NULL, (uint32_t)bytes, false};

    collect();
    if (idle_count == 0 || bytes == 0 || bytes > VIRTIO_CONSOLE_BLOCK)
        return false;
    part.memory = idle[idle_count - 1];
    copy(part.memory, data, bytes);
    if (!virtio_put(&out, &part, 1, part.memory))
        return false;
    idle_count--;
    virtio_kick(&out);
    return true;
}

/*
 * QEMU completes blocks in a thread that needs the lock which each access to a
 * port takes: reads alone would keep it waiting. Where the host is busy, that
 * thread may not run for some 100 ms, and then again for the next block.
 */
void virtio_console_finish(void)
{
    unsigned before = idle_count;

    for (unsigned i = 0; started && i < FINISH_POLLS_MAX; i++) {
        collect();
        if (idle_count == BLOCKS_MAX)
            return;
        if (idle_count != before)
            i = 0;
        before = idle_count;
        for (unsigned pause = 0; pause < FINISH_PAUSES; pause++)
            arch_pause();
        (void)arch_in8(DELAY_PORT);
    }
}

int virtio_console_receive(void)
{
    if (!started)
        return -1;
    if (unread_at == unread) {
        if (virtio_take(&in, &unread) == NULL) {
            unread = unread_at;
            return -1;
        }
        unread_at = 0;
        if (unread > IN_BYTES)
            unread = IN_BYTES;
        if (unread == 0) {
            offer_room();
            return -1;
        }
    }
    int byte = received[unread_at++];

    if (unread_at == unread)
        offer_room();
    return byte;
}

/* What has come before has not interrupted. */
bool virtio_console_listen(void (*on_input)(void))
{
    if (!started)
        return false;
    device.interrupted = on_input;
    if (!virtio_irq_on(&device))
        return false;
    if (virtio_interrupts(&in, true))
        on_input();
    return true;
}
