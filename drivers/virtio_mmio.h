/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_MMIO_H
#define VIRTIO_MMIO_H

/*
 * Virtio devices whose registers are in memory, as those of QEMU's microvm and
 * of Firecracker: of version 2, and of version 1, the legacy interface. Where
 * they are is not to be seen from a bus: ACPI's tables say so, or words of the
 * command line. Used by virtio.c, but for the words. Contexts: thread.
 */

#include "virtio_device.h"

/* Places are kept for so many devices. */
#define VIRTIO_MMIO_MAX 32u

/*
 * A place by a word of Linux's command line, SIZE@ADDRESS:INTERRUPT or with
 * :NUMBER behind it, as in "512@0xfeb02e00:12" or "4K@0xd0000000:5". False: it
 * is not of that form, or there are too many. Contexts: boot.
 */
bool virtio_mmio_word(const char *word);

/* The first device of (kind), not yet reset. False: there is none. */
bool virtio_mmio_find(struct virtio_device *device, unsigned kind);

#endif
