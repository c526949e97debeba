/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtio network device in the image, with the clients at the other end of
 * its cable. To the driver it is one of the modern interface: it has registers,
 * two queues in memory and a doorbell. It takes the place of what the machine
 * has (ldflags: the linker's --wrap), and of nothing above that.
 *
 * The device works when the driver looks: at the doorbell it takes what was
 * queued, and before frames are taken it delivers those that have arrived. Each
 * has arrived when the clients sent it, not when that is. It never interrupts;
 * the event loop is given the time of the next frame instead.
 *
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, 2.6 and 5.1.
 */

#include "frame.h"
#include "load.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/loop.h>
#include <prof/causal.h>
#include <string.h>
#include <virtio_net.h>
#include <virtio_pci.h>

#define QUEUES 2u
#define QUEUE_IN 0u
#define QUEUE_OUT 1u
#define FEATURE_MAC 5u
#define HEADER 12u
#define FLAG_NEXT 1u

struct descriptor {
    uint64_t address;
    uint32_t bytes;
    uint16_t flags, next;
};

struct available {
    uint16_t flags, index, ring[];
};

struct used {
    uint16_t flags, index;
    struct {
        uint32_t head, written;
    } ring[];
};

/* The device's end of a queue. */
struct end {
    const struct descriptor *descriptors;
    const struct available *available;
    struct used *used;
    uint16_t seen; /* of what is available */
};

static struct end ends[QUEUES];
static unsigned selected;
static uint8_t status_now;
static uint32_t doorbell;                   /* nobody reads it */
static uint64_t arrivals[VIRTIO_QUEUE_MAX]; /* by the index of used */
static const struct virtio_device *ours;

/* ---- registers */

static void set_status(const struct virtio_device *device, uint8_t status)
{
    (void)device;
    status_now = status;
}

static uint8_t status(const struct virtio_device *device)
{
    (void)device;
    return status_now;
}

static uint32_t offered(const struct virtio_device *device, unsigned half)
{
    (void)device;
    return half == 0 ? 1u << FEATURE_MAC : 1;
}

static void take_features(const struct virtio_device *device, unsigned half,
                          uint32_t features)
{
    (void)device;
    (void)half;
    (void)features;
}

static uint16_t select_queue(const struct virtio_device *device, unsigned index)
{
    (void)device;
    selected = index;
    return index < QUEUES ? VIRTIO_QUEUE_MAX : 0;
}

static uint16_t limit_queue(const struct virtio_device *device, uint16_t size)
{
    (void)device;
    (void)size;
    return VIRTIO_QUEUE_MAX;
}

static uintptr_t enable_queue(const struct virtio_device *device,
                              const struct virtio_tables *tables)
{
    (void)device;
    ends[selected] = (struct end){tables->descriptors, tables->available,
                                  (struct used *)(uintptr_t)tables->used, 0};
    return (uintptr_t)&doorbell;
}

static uint8_t config8(const struct virtio_device *device, unsigned offset)
{
    static const uint8_t mac[VIRTIO_NET_MAC] = {0x52, 0x54, 0, 0, 0, 2};

    (void)device;
    return offset < sizeof mac ? mac[offset] : 0;
}

static uint8_t interrupt(const struct virtio_device *device)
{
    (void)device;
    return 0;
}

static const struct virtio_transport transport = {
    .modern = true,
    .set_status = set_status,
    .status = status,
    .offered = offered,
    .take = take_features,
    .select_queue = select_queue,
    .limit_queue = limit_queue,
    .enable_queue = enable_queue,
    .config8 = config8, /* the driver reads only the address */
    .interrupt = interrupt,
};

/* ---- queues */

static bool has_any(const struct end *end)
{
    return __atomic_load_n(&end->available->index, __ATOMIC_ACQUIRE) !=
           end->seen;
}

/* The next chain of (end): the driver has frame and header in one part. */
static const struct descriptor *next_chain(const struct end *end)
{
    uint16_t head = end->available->ring[end->seen % VIRTIO_QUEUE_MAX];

    return &end->descriptors[head];
}

static void complete(struct end *end, size_t written)
{
    uint16_t index = end->used->index;

    end->used->ring[index % VIRTIO_QUEUE_MAX].head =
        end->available->ring[end->seen % VIRTIO_QUEUE_MAX];
    end->used->ring[index % VIRTIO_QUEUE_MAX].written = (uint32_t)written;
    end->seen++;
    __atomic_store_n(&end->used->index, (uint16_t)(index + 1),
                     __ATOMIC_RELEASE);
}

static void transmit(void)
{
    struct end *end = &ends[QUEUE_OUT];

    while (has_any(end)) {
        const struct descriptor *part = next_chain(end);

        if ((part->flags & FLAG_NEXT) == 0 && part->bytes > HEADER)
            load_receive((const uint8_t *)(uintptr_t)part->address + HEADER,
                         part->bytes - HEADER);
        complete(end, 0);
    }
}

static void deliver(void)
{
    struct end *end = &ends[QUEUE_IN];

    while (has_any(end)) {
        uint8_t *to = (uint8_t *)(uintptr_t)next_chain(end)->address;
        uint64_t arrived;
        size_t bytes = load_send(to + HEADER, &arrived);

        if (bytes == 0)
            return;
        memset(to, 0, HEADER);
        arrivals[end->used->index % VIRTIO_QUEUE_MAX] = arrived;
        complete(end, HEADER + bytes);
    }
}

/* ---- the event loop: when to look */

static bool is_due(void)
{
    return load_next() <= load_now() && has_any(&ends[QUEUE_IN]);
}

static void no_turn(void)
{
}

/* By the loop's clock, which lags after experiments. */
static uint64_t due_ns(void)
{
    uint64_t next = load_next();

    return next == UINT64_MAX
               ? next
               : clock_ns_of(prof_causal_time() + (next - load_now())) + 1;
}

/* ---- what is wrapped */

bool __real_virtio_pci_find(struct virtio_device *device, unsigned kind);
bool __wrap_virtio_pci_find(struct virtio_device *device, unsigned kind);
bool __real_virtio_irq_on(struct virtio_device *device);
bool __wrap_virtio_irq_on(struct virtio_device *device);
bool __real_virtio_kick_wanted(struct virtio_queue *queue);
bool __wrap_virtio_kick_wanted(struct virtio_queue *queue);
bool __real_virtio_interrupts(struct virtio_queue *queue, bool wanted);
bool __wrap_virtio_interrupts(struct virtio_queue *queue, bool wanted);
const uint8_t *__real_virtio_net_take(size_t *bytes, bool *sum_good);
const uint8_t *__wrap_virtio_net_take(size_t *bytes, bool *sum_good);
uint64_t __wrap_virtio_net_arrived(void);

/* What is here and seen in samples: the clients' own work is in none. */
static bool is_ours(uintptr_t begin, size_t bytes)
{
    static const void *const code[] = {
        (const void *)load_work,
        (const void *)__wrap_virtio_irq_on,
        (const void *)__wrap_virtio_kick_wanted,
        (const void *)__wrap_virtio_interrupts,
        (const void *)__wrap_virtio_net_take,
        (const void *)__wrap_virtio_net_arrived,
        (const void *)is_due,
    };

    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if ((uintptr_t)code[i] - begin < bytes)
            return true;
    return false;
}

bool __wrap_virtio_pci_find(struct virtio_device *device, unsigned kind)
{
    static struct loop_source source = {
        .waiting = is_due, .turn = no_turn, .due_ns = due_ns};

    if (kind != VIRTIO_NETWORK)
        return __real_virtio_pci_find(device, kind);
    *device = (struct virtio_device){
        .transport = &transport,
        .notify_by = VIRTIO_NOTIFY_32,
        .notify = (uintptr_t)&doorbell,
        .kind = kind,
    };
    ours = device;
    prof_causal_leave_out_code(is_ours);
    load_begin();
    loop_add(&source);
    return true;
}

bool __wrap_virtio_irq_on(struct virtio_device *device)
{
    return device == ours || __real_virtio_irq_on(device);
}

bool __wrap_virtio_kick_wanted(struct virtio_queue *queue)
{
    if (queue->device == ours)
        load_work(transmit);
    return __real_virtio_kick_wanted(queue);
}

bool __wrap_virtio_interrupts(struct virtio_queue *queue, bool wanted)
{
    return __real_virtio_interrupts(queue, wanted) ||
           (queue->device == ours && is_due());
}

const uint8_t *__wrap_virtio_net_take(size_t *bytes, bool *sum_good)
{
    if (is_due())
        load_work(deliver);
    return __real_virtio_net_take(bytes, sum_good);
}

uint64_t __wrap_virtio_net_arrived(void)
{
    return arrivals[(uint16_t)(virtio_net_in()->seen - 1) % VIRTIO_QUEUE_MAX];
}
