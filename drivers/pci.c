/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: PCI Local Bus Specification 3.0, 3.2.2.3.2 (configuration mechanism
 * 1) and chapter 6 (configuration space).
 */

#include "pci.h"

#include <arch/cpu.h>

#define ADDRESS_PORT 0xcf8u
#define DATA_PORT 0xcfcu
#define ENABLE 0x80000000u

#define BUSES 256u
#define DEVICES 32u
#define FUNCTIONS 8u

#define ID 0x00u
#define STATUS 0x06u
#define STATUS_CAPABILITIES 0x10u
#define HEADER_TYPE 0x0eu
#define HEADER_MULTI 0x80u
#define BAR_0 0x10u
#define CAPABILITIES 0x34u
#define INTERRUPT_LINE 0x3cu
#define CAPABILITIES_MAX 48u /* fit into 256 bytes */
#define ID_NONE 0xffffu

#define BAR_IO 1u
#define BAR_64 4u
#define BAR_FLAGS 0xfu
#define BAR_IO_FLAGS 0x3u

static uint32_t read_at(uint32_t address, uint8_t offset)
{
    const bool on = arch_interrupts_save();
    uint32_t value;

    arch_out32(ADDRESS_PORT, address | (offset & 0xfcu));
    value = arch_in32(DATA_PORT);
    arch_interrupts_restore(on);
    return value;
}

uint32_t pci_read32(const struct pci_device *device, uint8_t offset)
{
    return read_at(device->address, offset);
}

uint8_t pci_read8(const struct pci_device *device, uint8_t offset)
{
    return (uint8_t)(pci_read32(device, offset) >> offset % 4 * 8);
}

static bool look(uint32_t address, struct pci_device *device)
{
    uint32_t id = read_at(address, ID);

    device->address = address;
    device->vendor = (uint16_t)id;
    device->device = (uint16_t)(id >> 16);
    return device->vendor != ID_NONE;
}

/* Searches the functions of a device; only one unless it is multi-function. */
static bool find_function(uint32_t address,
                          bool (*wanted)(const struct pci_device *device),
                          struct pci_device *device)
{
    bool multi;

    if (!look(address, device))
        return false;
    multi = (pci_read8(device, HEADER_TYPE) & HEADER_MULTI) != 0;
    for (uint32_t function = 0; function < FUNCTIONS; function++) {
        if (look(address | function << 8, device) && wanted(device))
            return true;
        if (!multi)
            return false;
    }
    return false;
}

/* The address port reads as written. Where there is no such port, each of
 * 65,536 functions would have to be asked to find out. */
static bool present(void)
{
    const bool on = arch_interrupts_save();
    uint32_t value;

    arch_out32(ADDRESS_PORT, ENABLE);
    value = arch_in32(ADDRESS_PORT);
    arch_interrupts_restore(on);
    return value == ENABLE;
}

bool pci_find(bool (*wanted)(const struct pci_device *device),
              struct pci_device *device)
{
    if (!present())
        return false;
    for (uint32_t at = 0; at < BUSES * DEVICES; at++)
        if (find_function(ENABLE | at << 11, wanted, device))
            return true;
    return false;
}

/* The upper half is status: ones would clear it, zeros leave it unchanged. */
static void change_command(const struct pci_device *device, uint16_t set,
                           uint16_t clear)
{
    uint32_t command = pci_read32(device, PCI_COMMAND) & UINT16_MAX;
    const bool on = arch_interrupts_save();

    arch_out32(ADDRESS_PORT, device->address | PCI_COMMAND);
    arch_out32(DATA_PORT, (command | set) & ~(uint32_t)clear);
    arch_interrupts_restore(on);
}

void pci_enable(const struct pci_device *device, uint16_t bits)
{
    change_command(device, bits, 0);
}

void pci_disable(const struct pci_device *device, uint16_t bits)
{
    change_command(device, 0, bits);
}

uint8_t pci_interrupt_line(const struct pci_device *device)
{
    return pci_read8(device, INTERRUPT_LINE);
}

struct pci_bar pci_bar(const struct pci_device *device, unsigned number)
{
    struct pci_bar bar = {0};
    uint8_t offset = (uint8_t)(BAR_0 + 4 * number);
    uint32_t low = pci_read32(device, offset);

    bar.io = (low & BAR_IO) != 0;
    if (bar.io)
        bar.base = low & ~BAR_IO_FLAGS;
    else if ((low & BAR_64) == 0 || number == 5 ||
             pci_read32(device, (uint8_t)(offset + 4)) == 0)
        bar.base = low & ~BAR_FLAGS;
    return bar;
}

uint8_t pci_capability(const struct pci_device *device, uint8_t id,
                       uint8_t after)
{
    uint8_t at;

    if ((pci_read8(device, STATUS) & STATUS_CAPABILITIES) == 0)
        return 0;
    at = pci_read8(device, after != 0 ? (uint8_t)(after + 1) : CAPABILITIES);
    for (unsigned i = 0; i < CAPABILITIES_MAX && at != 0; i++) {
        if (pci_read8(device, at) == id)
            return at;
        at = pci_read8(device, (uint8_t)(at + 1));
    }
    return 0;
}
