/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, OASIS: 4.1 (over PCI, and
 * 4.1.4.8 for the legacy interface).
 *
 * A device with both interfaces is used by the modern one, through memory. The
 * legacy one is through ports.
 */

#include "virtio_pci.h"

#include "pci.h"

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
#define PORT_ISR 19u
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

/* ---- the modern interface */

static void set8(const struct virtio_device *device, unsigned at, uint8_t value)
{
    *(device->registers + at) = value;
}

static void set16(const struct virtio_device *device, unsigned at,
                  uint16_t value)
{
    *(volatile uint16_t *)(device->registers + at) = value;
}

static uint16_t get16(const struct virtio_device *device, unsigned at)
{
    return *(volatile uint16_t *)(device->registers + at);
}

static void set32(const struct virtio_device *device, unsigned at,
                  uint32_t value)
{
    *(volatile uint32_t *)(device->registers + at) = value;
}

static uint32_t get32(const struct virtio_device *device, unsigned at)
{
    return *(volatile uint32_t *)(device->registers + at);
}

static void modern_set_status(const struct virtio_device *device,
                              uint8_t status)
{
    set8(device, COMMON_STATUS, status);
}

static uint8_t modern_status(const struct virtio_device *device)
{
    return *(device->registers + COMMON_STATUS);
}

static uint32_t modern_offered(const struct virtio_device *device,
                               unsigned half)
{
    set32(device, COMMON_FEATURES_SELECT, half);
    return get32(device, COMMON_FEATURES);
}

static void modern_take(const struct virtio_device *device, unsigned half,
                        uint32_t features)
{
    set32(device, COMMON_TAKEN_SELECT, half);
    set32(device, COMMON_TAKEN, features);
}

static uint16_t modern_select_queue(const struct virtio_device *device,
                                    unsigned index)
{
    set16(device, COMMON_QUEUE_SELECT, (uint16_t)index);
    return get16(device, COMMON_QUEUE_SIZE);
}

static uint16_t modern_limit_queue(const struct virtio_device *device,
                                   uint16_t size)
{
    set16(device, COMMON_QUEUE_SIZE, size);
    return get16(device, COMMON_QUEUE_SIZE);
}

static void set_address(const struct virtio_device *device, unsigned at,
                        const void *memory)
{
    const uint64_t address = (uintptr_t)memory;

    set32(device, at, (uint32_t)address);
    set32(device, at + 4, (uint32_t)(address >> 32));
}

static uintptr_t modern_enable_queue(const struct virtio_device *device,
                                     const struct virtio_tables *tables)
{
    set_address(device, COMMON_QUEUE_DESCRIPTORS, tables->descriptors);
    set_address(device, COMMON_QUEUE_AVAILABLE, tables->available);
    set_address(device, COMMON_QUEUE_USED, tables->used);
    set16(device, COMMON_QUEUE_ENABLE, 1);
    if (get16(device, COMMON_QUEUE_ENABLE) != 1)
        return 0;
    return device->notify +
           get16(device, COMMON_QUEUE_NOTIFY) * (uintptr_t)device->notify_step;
}

static uint8_t modern_config8(const struct virtio_device *device,
                              unsigned offset)
{
    return device->config != NULL ? device->config[offset] : 0;
}

static uint32_t modern_config32(const struct virtio_device *device,
                                unsigned offset)
{
    if (device->config == NULL)
        return 0;
    return *(volatile uint32_t *)(device->config + offset);
}

/* Reading clears it. */
static uint8_t modern_interrupt(const struct virtio_device *device)
{
    return *device->isr;
}

static const struct virtio_transport modern = {
    .modern = true,
    .set_status = modern_set_status,
    .status = modern_status,
    .offered = modern_offered,
    .take = modern_take,
    .select_queue = modern_select_queue,
    .limit_queue = modern_limit_queue,
    .enable_queue = modern_enable_queue,
    .config8 = modern_config8,
    .config32 = modern_config32,
    .interrupt = modern_interrupt,
};

/* ---- the legacy interface */

static uint16_t port(const struct virtio_device *device, unsigned at)
{
    return (uint16_t)(device->ports + at);
}

static void legacy_set_status(const struct virtio_device *device,
                              uint8_t status)
{
    arch_out8(port(device, PORT_STATUS), status);
}

static uint8_t legacy_status(const struct virtio_device *device)
{
    return arch_in8(port(device, PORT_STATUS));
}

static uint32_t legacy_offered(const struct virtio_device *device,
                               unsigned half)
{
    return half == 0 ? arch_in32(port(device, PORT_FEATURES)) : 0;
}

static void legacy_take(const struct virtio_device *device, unsigned half,
                        uint32_t features)
{
    if (half == 0)
        arch_out32(port(device, PORT_FEATURES_TAKEN), features);
}

static uint16_t legacy_select_queue(const struct virtio_device *device,
                                    unsigned index)
{
    arch_out16(port(device, PORT_QUEUE_SELECT), (uint16_t)index);
    return arch_in16(port(device, PORT_QUEUE_SIZE));
}

static uint16_t legacy_limit_queue(const struct virtio_device *device,
                                   uint16_t size)
{
    (void)size;
    return arch_in16(port(device, PORT_QUEUE_SIZE));
}

static uintptr_t legacy_enable_queue(const struct virtio_device *device,
                                     const struct virtio_tables *tables)
{
    arch_out32(port(device, PORT_QUEUE_PAGE),
               (uint32_t)((uintptr_t)tables->descriptors / VIRTIO_PAGE_BYTES));
    return device->notify;
}

static uint8_t legacy_config8(const struct virtio_device *device,
                              unsigned offset)
{
    return arch_in8(port(device, PORT_CONFIG + offset));
}

static uint32_t legacy_config32(const struct virtio_device *device,
                                unsigned offset)
{
    return arch_in32(port(device, PORT_CONFIG + offset));
}

static uint8_t legacy_interrupt(const struct virtio_device *device)
{
    return arch_in8(port(device, PORT_ISR));
}

static const struct virtio_transport legacy = {
    .set_status = legacy_set_status,
    .status = legacy_status,
    .offered = legacy_offered,
    .take = legacy_take,
    .select_queue = legacy_select_queue,
    .limit_queue = legacy_limit_queue,
    .enable_queue = legacy_enable_queue,
    .config8 = legacy_config8,
    .config32 = legacy_config32,
    .interrupt = legacy_interrupt,
};

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

    if (common != 0 && notify != 0 && isr != 0) {
        device->transport = &modern;
        device->notify_by = VIRTIO_NOTIFY_16;
        device->isr = (volatile uint8_t *)isr;
        device->config = (volatile uint8_t *)config;
        device->registers = (volatile uint8_t *)common;
        device->notify = notify;
        device->notify_step = pci_read32(pci, (uint8_t)(at + CAP_NOTIFY_STEP));
        return true;
    }
    bar = pci_bar(pci, 0);
    if (!bar.io || bar.base == 0)
        return false;
    device->transport = &legacy;
    device->notify_by = VIRTIO_NOTIFY_PORT;
    device->ports = (uint16_t)bar.base;
    device->notify = bar.base + PORT_QUEUE_NOTIFY;
    return true;
}

/* Only a device whose interrupts are wanted may assert its line: there may be
 * no handler. */
static void enable_interrupts(const struct virtio_device *device)
{
    pci_disable(&device->pci, PCI_COMMAND_NO_INTX);
}

bool virtio_pci_find(struct virtio_device *device, unsigned kind)
{
    struct pci_device pci;

    kind_wanted = kind;
    if (!pci_find(wanted, &pci))
        return false;
    *device = (struct virtio_device){
        .pci = pci,
        .kind = kind,
        .line = pci_interrupt_line(&pci),
        .enable_interrupts = enable_interrupts,
    };
    if (!find_interface(&pci, device))
        return false;
    pci_enable(&pci, PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
                         PCI_COMMAND_NO_INTX);
    return true;
}
