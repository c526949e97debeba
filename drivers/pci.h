/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PCI_H
#define PCI_H

/*
 * PCI devices through configuration mechanism 1, an address port and a data
 * port. Contexts: thread.
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
    uint32_t address; /* bus, device and function, for the address port */
    uint16_t vendor;
    uint16_t device;
};

/* A base address register. */
struct pci_bar {
    uintptr_t base; /* port or address; 0 = none or above 4 GiB */
    bool io;        /* base is a port */
};

/*
 * Finds the first device on any bus for which (wanted) returns true. Returns
 * false if there is none; (*device) is then undefined.
 */
bool pci_find(bool (*wanted)(const struct pci_device *device),
              struct pci_device *device);

/* Configuration space at (offset) of a device from pci_find(). */
uint32_t pci_read32(const struct pci_device *device, uint8_t offset);
uint8_t pci_read8(const struct pci_device *device, uint8_t offset);

/* Sets or clears (bits), PCI_COMMAND_*. */
void pci_enable(const struct pci_device *device, uint16_t bits);
void pci_disable(const struct pci_device *device, uint16_t bits);

/* Line of the PIC to which the firmware has routed the device's interrupt; 255
 * if there is none. */
uint8_t pci_interrupt_line(const struct pci_device *device);

/* Base address register (number), 0 to 5, as set by the firmware. */
struct pci_bar pci_bar(const struct pci_device *device, unsigned number);

/*
 * Offset of the next capability with (id) after the one at (after), or of the
 * first with 0. Returns 0 if there is none. Terminates even if the list is
 * circular.
 */
uint8_t pci_capability(const struct pci_device *device, uint8_t id,
                       uint8_t after);

#endif
