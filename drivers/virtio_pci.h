/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_PCI_H
#define VIRTIO_PCI_H

/*
 * Virtio devices on PCI: finding one, its features, status and configuration.
 * Supports the modern interface, through memory, and the legacy one, through
 * ports; the modern one is used if the device has both. Contexts: thread.
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

struct virtio_device {
    uintptr_t notify;         /* port, or notify address of queue 0 */
    uint32_t notify_step;     /* bytes between notify addresses; modern only */
    uint16_t ports;           /* legacy interface; 0 = none */
    volatile uint8_t *common; /* modern interface; NULL = none */
    volatile uint8_t *isr;    /* modern: interrupt status */
    volatile uint8_t *config; /* modern: configuration of the device's kind */
    uint64_t features;        /* negotiated */
    struct pci_device pci;
    unsigned kind;              /* VIRTIO_... */
    uint32_t interrupts;        /* so far; written by virtio_irq.c */
    void (*interrupted)(void);  /* called in each of them, or NULL */
    struct virtio_device *next; /* on the same line; virtio_irq.c only */
};

/*
 * Finds the first device of (kind), resets it and negotiates (features). False:
 * there is none, or it requires other features.
 */
bool virtio_find(struct virtio_device *device, unsigned kind,
                 uint64_t features);

/* Byte (offset) of the configuration of the device's kind. */
uint8_t virtio_config8(const struct virtio_device *device, unsigned offset);

/* Starts the device. Call when its queues are set up. */
void virtio_ready(struct virtio_device *device);

/* ---- used by virtio_queue.c only */

/* Selects queue (index) for the calls below and returns its size, 0 = none. */
uint16_t virtio_pci_select_queue(const struct virtio_device *device,
                                 unsigned index);

/* Asks for a queue of (size) entries and returns its size, which is unchanged
 * with the legacy interface. */
uint16_t virtio_pci_limit_queue(const struct virtio_device *device,
                                uint16_t size);

/* Passes the queue's tables to the device. Returns the address to notify it
 * at, a port with the legacy interface; 0: the device refused. */
uintptr_t virtio_pci_enable_queue(const struct virtio_device *device,
                                  const void *descriptors,
                                  const void *available, const void *used);

#endif
