/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_PCI_H
#define VIRTIO_PCI_H

/*
 * Virtio devices on PCI, by the modern interface or the legacy one. Used by
 * virtio.c only. Contexts: thread.
 */

#include "virtio_device.h"

/* The first device of (kind), not yet reset. False: there is none. */
bool virtio_pci_find(struct virtio_device *device, unsigned kind);

#endif
