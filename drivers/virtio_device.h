/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_DEVICE_H
#define VIRTIO_DEVICE_H

/*
 * A virtio device, and what a transport has to do for it. The transports are in
 * virtio_pci.c (modern and legacy) and virtio_mmio.c (versions 2 and 1).
 */

#include "pci.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of devices (Virtual I/O Device Version 1.1, chapter 5). */
#define VIRTIO_NETWORK 1u
#define VIRTIO_BLOCK 2u
#define VIRTIO_CONSOLE 3u
#define VIRTIO_SOCKET 19u

/* Features of every kind of device (chapter 6). */
#define VIRTIO_ANY_LAYOUT ((uint64_t)1 << 27)
#define VIRTIO_VERSION_1 ((uint64_t)1 << 32)

#define VIRTIO_PAGE_BYTES 4096u

struct virtio_device;

/* How a queue's index is written to (notify). */
enum virtio_notify {
    VIRTIO_NOTIFY_PORT, /* 16 bits to a port */
    VIRTIO_NOTIFY_16,   /* to memory */
    VIRTIO_NOTIFY_32,
};

/* A queue's tables, and how many entries they have. */
struct virtio_tables {
    uint16_t size;
    const void *descriptors, *available, *used;
};

/* What differs between transports. Each call is for one device. */
struct virtio_transport {
    bool modern; /* requires VIRTIO_VERSION_1, and the status FEATURES_OK */

    void (*set_status)(const struct virtio_device *device, uint8_t status);
    uint8_t (*status)(const struct virtio_device *device);

    /* Features by halves of 32 bits, 0 and 1. */
    uint32_t (*offered)(const struct virtio_device *device, unsigned half);
    void (*take)(const struct virtio_device *device, unsigned half,
                 uint32_t features);

    /* Selects queue (index) for the calls below and returns the size that it
     * has or may have, 0 = none. */
    uint16_t (*select_queue)(const struct virtio_device *device,
                             unsigned index);
    /* Asks for (size) entries and returns the size, which is unchanged if it
     * cannot be chosen. */
    uint16_t (*limit_queue)(const struct virtio_device *device, uint16_t size);
    /* Passes the tables to the device. Returns the address to notify it
     * at; 0: the device refused. */
    uintptr_t (*enable_queue)(const struct virtio_device *device,
                              const struct virtio_tables *tables);

    /* Byte (offset) of the configuration of the device's kind. */
    uint8_t (*config8)(const struct virtio_device *device, unsigned offset);
    /* The 32 bits at (offset), a multiple of 4. */
    uint32_t (*config32)(const struct virtio_device *device, unsigned offset);

    /* Why the device interrupts: bit 0: a queue; bit 1: the configuration; 0:
     * it does not. Acknowledges it. Contexts: interrupt, too. */
    uint8_t (*interrupt)(const struct virtio_device *device);
};

struct virtio_device {
    const struct virtio_transport *transport;
    enum virtio_notify notify_by;
    uintptr_t notify;            /* port or address; of queue 0 with PCI */
    uint32_t notify_step;        /* PCI, modern: bytes between these */
    uint16_t ports;              /* PCI, legacy */
    volatile uint8_t *registers; /* PCI, modern: common; or those of MMIO */
    volatile uint8_t *isr;       /* PCI, modern: interrupt status */
    volatile uint8_t *config; /* PCI, modern: of the device's kind, or NULL */
    struct pci_device pci;    /* PCI */
    uint64_t features;        /* negotiated */
    unsigned kind;            /* VIRTIO_... */
    unsigned line;            /* of its interrupt (irq.h) */
    void (*enable_interrupts)(const struct virtio_device *device); /* or NULL */
    uint32_t interrupts;        /* so far; written by virtio_irq.c */
    void (*interrupted)(void);  /* called in each of them, or NULL */
    struct virtio_device *next; /* on the same line; virtio_irq.c only */
};

#endif
