/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, OASIS: 3.1 (initialization).
 */

#include "virtio.h"

#include "virtio_mmio.h"
#include "virtio_pci.h"

#define STATUS_ACKNOWLEDGE 0x01u
#define STATUS_DRIVER 0x02u
#define STATUS_DRIVER_OK 0x04u
#define STATUS_FEATURES_OK 0x08u
#define STATUS_FAILED 0x80u

#define RESET_READS_MAX 100000u

static void set_status(const struct virtio_device *device, uint8_t status)
{
    device->transport->set_status(device, status);
}

static uint8_t get_status(const struct virtio_device *device)
{
    return device->transport->status(device);
}

static void reset(const struct virtio_device *device)
{
    set_status(device, 0);
    for (unsigned i = 0; i < RESET_READS_MAX; i++)
        if (get_status(device) == 0)
            return;
}

static void negotiate_features(struct virtio_device *device, uint64_t features)
{
    const struct virtio_transport *transport = device->transport;

    if (transport->modern)
        features |= VIRTIO_VERSION_1;
    device->features = 0;
    for (unsigned half = 0; half < 2; half++) {
        const uint32_t both = transport->offered(device, half) &
                              (uint32_t)(features >> (32 * half));

        transport->take(device, half, both);
        device->features |= (uint64_t)both << (32 * half);
    }
}

bool virtio_find(struct virtio_device *device, unsigned kind, uint64_t features)
{
    const uint8_t status = STATUS_ACKNOWLEDGE | STATUS_DRIVER;

    if (!virtio_mmio_find(device, kind) && !virtio_pci_find(device, kind))
        return false;
    reset(device);
    set_status(device, STATUS_ACKNOWLEDGE);
    set_status(device, status);
    negotiate_features(device, features);
    if (!device->transport->modern)
        return true;
    set_status(device, status | STATUS_FEATURES_OK);
    if ((get_status(device) & STATUS_FEATURES_OK) != 0)
        return true;
    set_status(device, STATUS_FAILED);
    return false;
}

uint8_t virtio_config8(const struct virtio_device *device, unsigned offset)
{
    return device->transport->config8(device, offset);
}

uint32_t virtio_config32(const struct virtio_device *device, unsigned offset)
{
    return device->transport->config32(device, offset);
}

void virtio_ready(struct virtio_device *device)
{
    set_status(device, get_status(device) | STATUS_DRIVER_OK);
}
