/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PCI_H
#define PCI_H

/*
 * PCI devices, found and set up through configuration mechanism 1: two ports,
 * one for the address and one for the data. Contexts: thread.
 */

#include <stdbool.h>
#include <stdint.h>

#define PCI_COMMAND 0x04u
#define PCI_COMMAND_IO 0x0001u
#define PCI_COMMAND_MEMORY 0x0002u
#define PCI_COMMAND_MASTER 0x0004u
#define PCI_COMMAND_NO_INTX 0x0400u

#define PCI_CAPABILITY_VENDOR 0x09u

struct pci_device {
    uint32_t
        address; /* bus, device and function as the address port wants it */
    uint16_t vendor;
    uint16_t device;
};

/* Where a base address register points. */
struct pci_bar {
    uintptr_t base; /* port or address; 0 = none, or beyond our reach */
    bool io;        /* ports */
};

/*
 * Finds the first device on any bus that (wanted) returns true for. Returns
 * false, and (*device) is undefined, where there is none.
 */
bool pci_find(bool (*wanted)(const struct pci_device *device),
              struct pci_device *device);

/* Configuration space at (offset), of a device that pci_find() has found. */
uint32_t pci_read32(const struct pci_device *device, uint8_t offset);
uint8_t pci_read8(const struct pci_device *device, uint8_t offset);

/* Turns (bits), of PCI_COMMAND_*, on, or off. */
void pci_enable(const struct pci_device *device, uint16_t bits);
void pci_disable(const struct pci_device *device, uint16_t bits);

/* Line of the PIC that the firmware has wired the device's interrupt to, 255
 * where there is none. */
uint8_t pci_interrupt_line(const struct pci_device *device);

/* Base address register (number), 0 to 5, as the firmware has set it. */
struct pci_bar pci_bar(const struct pci_device *device, unsigned number);

/*
 * Offset of the next capability with (id) after (after), 0 for the first; 0
 * where there is none. Ends on a list that runs in a circle, too.
 */
uint8_t pci_capability(const struct pci_device *device, uint8_t id,
                       uint8_t after);

#endif
