/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, OASIS: 3.1 (initialization),
 * 4.1 (over PCI, and 4.1.4.8 for the legacy interface).
 */

#include "virtio_pci.h"

#include <arch/cpu.h>

#define VENDOR 0x1af4u
#define DEVICE_MODERN 0x1040u /* plus the kind */

/* Legacy ports, relative to the first base address register. */
#define PORT_FEATURES 0u
#define PORT_FEATURES_TAKEN 4u
#define PORT_QUEUE_PAGE 8u
#define PORT_QUEUE_SIZE 12u
#define PORT_QUEUE_SELECT 14u
#define PORT_QUEUE_NOTIFY 16u
#define PORT_STATUS 18u
#define PORT_CONFIG 20u /* without MSI-X, which is never enabled */

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

/* ---- registers that differ between the interfaces */

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

static uint16_t get_size(const struct virtio_device *device)
{
    if (device->common != NULL)
        return get16(device, COMMON_QUEUE_SIZE);
    return arch_in16((uint16_t)(device->ports + PORT_QUEUE_SIZE));
}

uint16_t virtio_pci_select_queue(const struct virtio_device *device,
                                 unsigned index)
{
    if (device->common != NULL)
        set16(device, COMMON_QUEUE_SELECT, (uint16_t)index);
    else
        arch_out16((uint16_t)(device->ports + PORT_QUEUE_SELECT),
                   (uint16_t)index);
    return get_size(device);
}

static void negotiate_features(struct virtio_device *device, uint64_t features)
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

uint16_t virtio_pci_limit_queue(const struct virtio_device *device,
                                uint16_t size)
{
    if (device->common == NULL)
        return get_size(device);
    set16(device, COMMON_QUEUE_SIZE, size);
    return get16(device, COMMON_QUEUE_SIZE);
}

uintptr_t virtio_pci_enable_queue(const struct virtio_device *device,
                                  const void *descriptors,
                                  const void *available, const void *used)
{
    if (device->common == NULL) {
        arch_out32((uint16_t)(device->ports + PORT_QUEUE_PAGE),
                   (uint32_t)((uintptr_t)descriptors / VIRTIO_PAGE_BYTES));
        return device->notify;
    }
    set_address(device, COMMON_QUEUE_DESCRIPTORS, descriptors);
    set_address(device, COMMON_QUEUE_AVAILABLE, available);
    set_address(device, COMMON_QUEUE_USED, used);
    set16(device, COMMON_QUEUE_ENABLE, 1);
    if (get16(device, COMMON_QUEUE_ENABLE) != 1)
        return 0;
    return device->notify +
           get16(device, COMMON_QUEUE_NOTIFY) * (uintptr_t)device->notify_step;
}

/* ---- finding a device */

static unsigned kind_wanted;

/* 4.1.2.1: transitional devices have other, unsystematic ids. */
static bool wanted(const struct pci_device *device)
{
    static const uint16_t ids[] = {
        [VIRTIO_NETWORK] = 0x1000,
        [VIRTIO_BLOCK] = 0x1001,
        [VIRTIO_CONSOLE] = 0x1003,
        [VIRTIO_SOCKET] = 0x1012,
    };

    return device->vendor == VENDOR &&
           (device->device == DEVICE_MODERN + kind_wanted ||
            device->device == ids[kind_wanted]);
}

/* Address in the capability of (type), 0 if there is none. */
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

/* Uses the modern interface if it is complete, else the legacy one. */
static bool find_interface(const struct pci_device *pci,
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
        return 0; /* this kind has no configuration */
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
    if (!pci_find(wanted, &pci) || !find_interface(&pci, device))
        return false;
    pci_enable(&pci, PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
                         PCI_COMMAND_NO_INTX);
    reset(device);
    set_status(device, STATUS_ACKNOWLEDGE);
    set_status(device, status);
    negotiate_features(device, features);
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
