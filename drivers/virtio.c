/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, OASIS: 2.6 (split queues),
 * 3.1 (initialization), 4.1 (over PCI, and 4.1.4.8 for the legacy face).
 *
 * A queue is three tables in memory that both sides see:
 *
 *     descriptors   pieces of memory; a chain links those that belong together
 *     available     heads of chains, in the order we put them; ours to write
 *     used          heads of chains that are done with; the device's to write
 *
 * Each side writes an entry and then its index, and never the other's.
 *
 *   (V) our store to available.index releases the chain before it
 *   (U) our load of used.index acquires the entries before it
 */

#include "virtio.h"

#include <arch/cpu.h>

#define VENDOR 0x1af4u
#define DEVICE_MODERN 0x1040u /* and the kind */

/* Legacy ports, from the first base address register. */
#define PORT_FEATURES 0u
#define PORT_FEATURES_TAKEN 4u
#define PORT_QUEUE_PAGE 8u
#define PORT_QUEUE_SIZE 12u
#define PORT_QUEUE_SELECT 14u
#define PORT_QUEUE_NOTIFY 16u
#define PORT_STATUS 18u
#define PORT_CONFIG 20u /* without MSI-X, which is never turned on */

/* struct virtio_pci_common_cfg. */
#define COMMON_FEATURES_SELECT 0u
#define COMMON_FEATURES 4u
#define COMMON_TAKEN_SELECT 8u
#define COMMON_TAKEN 12u
#define COMMON_STATUS 20u
#define COMMON_QUEUE_SELECT 22u
#define COMMON_QUEUE_SIZE 24u
#define COMMON_QUEUE_ENABLE 28u
#define COMMON_QUEUE_NOTIFY 30u
#define COMMON_QUEUE_DESCRIPTORS 32u
#define COMMON_QUEUE_AVAILABLE 40u
#define COMMON_QUEUE_USED 48u

/* struct virtio_pci_cap. */
#define CAP_TYPE 3u
#define CAP_BAR 4u
#define CAP_OFFSET 8u
#define CAP_NOTIFY_STEP 16u
#define CAP_TYPE_COMMON 1u
#define CAP_TYPE_NOTIFY 2u
#define CAP_TYPE_ISR 3u
#define CAP_TYPE_DEVICE 4u

#define STATUS_ACKNOWLEDGE 0x01u
#define STATUS_DRIVER 0x02u
#define STATUS_DRIVER_OK 0x04u
#define STATUS_FEATURES_OK 0x08u
#define STATUS_FAILED 0x80u

#define RESET_READS_MAX 100000u

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

static void set8(const struct virtio_device *device, unsigned at, uint8_t value)
{
    *(device->common + at) = value;
}

static void set16(const struct virtio_device *device, unsigned at,
                  uint16_t value)
{
    *(volatile uint16_t *)(device->common + at) = value;
}

static uint16_t get16(const struct virtio_device *device, unsigned at)
{
    return *(volatile uint16_t *)(device->common + at);
}

static void set32(const struct virtio_device *device, unsigned at,
                  uint32_t value)
{
    *(volatile uint32_t *)(device->common + at) = value;
}

static uint32_t get32(const struct virtio_device *device, unsigned at)
{
    return *(volatile uint32_t *)(device->common + at);
}

/* ---- what differs between the two faces */

static void set_status(const struct virtio_device *device, uint8_t status)
{
    if (device->common != NULL)
        set8(device, COMMON_STATUS, status);
    else
        arch_out8((uint16_t)(device->ports + PORT_STATUS), status);
}

static uint8_t get_status(const struct virtio_device *device)
{
    if (device->common != NULL)
        return *(device->common + COMMON_STATUS);
    return arch_in8((uint16_t)(device->ports + PORT_STATUS));
}

static uint16_t select_queue(const struct virtio_device *device, unsigned index)
{
    if (device->common != NULL) {
        set16(device, COMMON_QUEUE_SELECT, (uint16_t)index);
        return get16(device, COMMON_QUEUE_SIZE);
    }
    arch_out16((uint16_t)(device->ports + PORT_QUEUE_SELECT), (uint16_t)index);
    return arch_in16((uint16_t)(device->ports + PORT_QUEUE_SIZE));
}

static void take_features(struct virtio_device *device, uint64_t features)
{
    if (device->common == NULL) {
        features &= arch_in32((uint16_t)(device->ports + PORT_FEATURES));
        arch_out32((uint16_t)(device->ports + PORT_FEATURES_TAKEN),
                   (uint32_t)features);
        device->features = features;
        return;
    }
    device->features = 0;
    features |= VIRTIO_VERSION_1;
    for (unsigned half = 0; half < 2; half++) {
        uint32_t both;

        set32(device, COMMON_FEATURES_SELECT, half);
        both = get32(device, COMMON_FEATURES) &
               (uint32_t)(features >> (32 * half));
        set32(device, COMMON_TAKEN_SELECT, half);
        set32(device, COMMON_TAKEN, both);
        device->features |= (uint64_t)both << (32 * half);
    }
}

static void set_address(const struct virtio_device *device, unsigned at,
                        const void *memory)
{
    set32(device, at, (uint32_t)(uintptr_t)memory);
    set32(device, at + 4, 0); /* all memory is below 4 GiB */
}

/* Tells the device where (queue), the selected one, lies. */
static bool place_queue(struct virtio_queue *queue)
{
    const struct virtio_device *device = queue->device;

    if (device->common == NULL) {
        queue->notify = device->notify;
        arch_out32(
            (uint16_t)(device->ports + PORT_QUEUE_PAGE),
            (uint32_t)((uintptr_t)queue->descriptors / VIRTIO_PAGE_BYTES));
        return true;
    }
    set_address(device, COMMON_QUEUE_DESCRIPTORS, queue->descriptors);
    set_address(device, COMMON_QUEUE_AVAILABLE, queue->available);
    set_address(device, COMMON_QUEUE_USED, queue->used);
    queue->notify = device->notify + get16(device, COMMON_QUEUE_NOTIFY) *
                                         (uintptr_t)device->notify_step;
    set16(device, COMMON_QUEUE_ENABLE, 1);
    return get16(device, COMMON_QUEUE_ENABLE) == 1;
}

/* ---- finding a device */

static unsigned kind_wanted;

/* 4.1.2.1: transitional devices have ids of their own, in no good order. */
static bool wanted(const struct pci_device *device)
{
    static const uint16_t ids[] = {
        [VIRTIO_NETWORK] = 0x1000,
        [VIRTIO_BLOCK] = 0x1001,
        [VIRTIO_CONSOLE] = 0x1003,
    };

    return device->vendor == VENDOR &&
           (device->device == DEVICE_MODERN + kind_wanted ||
            device->device == ids[kind_wanted]);
}

/* Address that the capability of (type) points at, 0 where there is none. */
static uintptr_t find_structure(const struct pci_device *pci, unsigned type,
                                uint8_t *capability)
{
    uint8_t at = 0;

    while ((at = pci_capability(pci, PCI_CAPABILITY_VENDOR, at)) != 0) {
        struct pci_bar bar;

        if (pci_read8(pci, (uint8_t)(at + CAP_TYPE)) != type)
            continue;
        bar = pci_bar(pci, pci_read8(pci, (uint8_t)(at + CAP_BAR)) % 6);
        if (bar.io || bar.base == 0)
            continue;
        *capability = at;
        return bar.base + pci_read32(pci, (uint8_t)(at + CAP_OFFSET));
    }
    return 0;
}

/* The modern face where it is complete, else the legacy one. */
static bool find_face(const struct pci_device *pci,
                      struct virtio_device *device)
{
    uint8_t at;
    uintptr_t common = find_structure(pci, CAP_TYPE_COMMON, &at);
    uintptr_t isr = find_structure(pci, CAP_TYPE_ISR, &at);
    uintptr_t config = find_structure(pci, CAP_TYPE_DEVICE, &at);
    uintptr_t notify = find_structure(pci, CAP_TYPE_NOTIFY, &at);
    struct pci_bar bar;

    *device = (struct virtio_device){.pci = *pci, .kind = kind_wanted};
    if (common != 0 && notify != 0) {
        device->isr = (volatile uint8_t *)isr;
        device->config = (volatile uint8_t *)config;
        device->common = (volatile uint8_t *)common;
        device->notify = notify;
        device->notify_step = pci_read32(pci, (uint8_t)(at + CAP_NOTIFY_STEP));
        return true;
    }
    bar = pci_bar(pci, 0);
    if (!bar.io || bar.base == 0)
        return false;
    device->ports = (uint16_t)bar.base;
    device->notify = bar.base + PORT_QUEUE_NOTIFY;
    return true;
}

uint8_t virtio_config8(const struct virtio_device *device, unsigned offset)
{
    if (device->config != NULL)
        return device->config[offset];
    if (device->common != NULL)
        return 0; /* a kind that has none */
    return arch_in8((uint16_t)(device->ports + PORT_CONFIG + offset));
}

static void reset(const struct virtio_device *device)
{
    set_status(device, 0);
    for (unsigned i = 0; i < RESET_READS_MAX; i++)
        if (get_status(device) == 0)
            return;
}

bool virtio_find(struct virtio_device *device, unsigned kind, uint64_t features)
{
    struct pci_device pci;
    uint8_t status = STATUS_ACKNOWLEDGE | STATUS_DRIVER;

    kind_wanted = kind;
    if (!pci_find(wanted, &pci) || !find_face(&pci, device))
        return false;
    pci_enable(&pci, PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
                         PCI_COMMAND_NO_INTX);
    reset(device);
    set_status(device, STATUS_ACKNOWLEDGE);
    set_status(device, status);
    take_features(device, features);
    if (device->common == NULL)
        return true;
    status |= STATUS_FEATURES_OK;
    set_status(device, status);
    if ((get_status(device) & STATUS_FEATURES_OK) != 0)
        return true;
    set_status(device, STATUS_FAILED);
    return false;
}

void virtio_ready(struct virtio_device *device)
{
    set_status(device, get_status(device) | STATUS_DRIVER_OK);
}

/* ---- queues */

static size_t page_up(size_t bytes)
{
    return (bytes + VIRTIO_PAGE_BYTES - 1) / VIRTIO_PAGE_BYTES *
           VIRTIO_PAGE_BYTES;
}

/* Bytes from the descriptors to the used table, which has a page of its own:
 * the legacy face knows no other layout. */
static size_t used_offset(size_t size)
{
    return page_up(size * sizeof(struct virtio_descriptor) +
                   sizeof(struct virtio_available) +
                   (size + 1) * sizeof(uint16_t));
}

size_t virtio_queue_bytes(const struct virtio_device *device, unsigned index)
{
    size_t size = select_queue(device, index);

    if (size > VIRTIO_QUEUE_MAX && device->common != NULL) {
        set16(device, COMMON_QUEUE_SIZE, VIRTIO_QUEUE_MAX);
        size = get16(device, COMMON_QUEUE_SIZE);
    }
    if (size == 0 || size > VIRTIO_QUEUE_MAX || (size & (size - 1)) != 0)
        return 0;
    return used_offset(size) +
           page_up(sizeof(struct virtio_used) + 8 * size + sizeof(uint16_t));
}

bool virtio_queue_open(struct virtio_device *device, struct virtio_queue *queue,
                       unsigned index, void *memory)
{
    size_t bytes = virtio_queue_bytes(device, index);
    uint16_t size = select_queue(device, index);
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
    return place_queue(queue);
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
    queue->put_tsc[head] = arch_tsc();
    available->ring[available->index % queue->size] = head;
    __atomic_store_n(&available->index, (uint16_t)(available->index + 1),
                     __ATOMIC_RELEASE); /* (V) */
    return true;
}

/* The index must be out before the device is asked whether it sleeps. */
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
    if (queue->device->common != NULL)
        *(volatile uint16_t *)queue->notify = queue->index;
    else
        arch_out16((uint16_t)queue->notify, queue->index);
}

/* Puts the chain that begins at (head) back among the free entries. */
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

static void (*watcher)(const struct virtio_request *request);

void virtio_watch(void (*watch)(const struct virtio_request *request))
{
    watcher = watch;
}

static void count(struct virtio_queue *queue, uint16_t head)
{
    struct virtio_counts *counts = &queue->counts;
    const struct virtio_request request = {
        .kind = queue->device->kind,
        .queue = queue->index,
        .bytes = queue->put_bytes[head],
        .put_tsc = queue->put_tsc[head],
        .taken_tsc = arch_tsc(),
    };
    uint64_t cycles = request.taken_tsc - request.put_tsc;

    counts->requests++;
    counts->bytes += request.bytes;
    counts->cycles += cycles;
    if (cycles > counts->cycles_max)
        counts->cycles_max = cycles;
    if (watcher != NULL)
        watcher(&request);
}

bool virtio_done(const struct virtio_queue *queue)
{
    return __atomic_load_n(&queue->used->index, __ATOMIC_ACQUIRE) !=
           queue->seen; /* (U) */
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
