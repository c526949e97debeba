/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AML_H
#define AML_H

/*
 * Devices that ACPI's AML describes: not an interpreter, but what the tables of
 * virtual machines need. Objects named in scopes and devices are read; methods
 * and conditions are passed over, and whatever is there beyond that ends the
 * scope it is in. Bounds of time and stack: the bytes, and sixteen levels.
 */

#include "acpi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A device's first range of memory and first interrupt; a line of the ISA bus
 * is where the MADT says that it is. */
struct aml_device {
    uint64_t memory, bytes; /* 0: none */
    bool has_input;
    struct acpi_input input;
};

/*
 * Calls (take) for each device with the hardware id (hid), a string, in the
 * (bytes) bytes of AML at (code): those after a table's header. Contexts: boot,
 * thread.
 */
void aml_devices(const void *code, size_t bytes, const char *hid,
                 void (*take)(const struct aml_device *device));

#endif
