/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_H
#define VIRTIO_H

/*
 * Virtio devices of any kind, on any transport: finding one, its features,
 * status and configuration. Contexts: thread.
 */

#include "virtio_device.h"

/*
 * Finds the first device of (kind), resets it and negotiates (features). False:
 * there is none, or it requires other features.
 */
bool virtio_find(struct virtio_device *device, unsigned kind,
                 uint64_t features);

/*
 * Byte (offset) of the configuration of the device's kind, and the 32 bits at
 * (offset), a multiple of 4. A field is read as wide as it is, or one of 64
 * bits by halves: a device may refuse other accesses.
 */
uint8_t virtio_config8(const struct virtio_device *device, unsigned offset);
uint32_t virtio_config32(const struct virtio_device *device, unsigned offset);

/* Starts the device. Call when its queues are set up. */
void virtio_ready(struct virtio_device *device);

#endif
