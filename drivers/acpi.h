/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACPI_H
#define ACPI_H

/*
 * The firmware's ACPI tables: finding one by its signature, and the interrupt
 * controllers that the MADT lists. AML is in aml.h. Nothing is changed and
 * nothing allocated. What is damaged, by its checksum or its sizes, is as if it
 * were not there. Contexts: boot, thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The header of each table (ACPI Specification 6.4, 5.2.6). */
struct acpi_table {
    char signature[4];
    uint32_t bytes; /* of all of it */
    uint8_t revision, checksum;
    char oem[6], oem_table[8];
    uint32_t oem_revision, creator, creator_revision;
} __attribute__((packed));

/*
 * Takes the tables of the root pointer (RSDP) at (root), or, with 0, of the one
 * that the firmware of a PC has left below 1 MiB. False: there are none. May be
 * called again. Contexts: boot, after arch start-up.
 */
bool acpi_start(uintptr_t root);

/*
 * The next table with (signature) after (after), or the first with NULL, among
 * those of the root table; and the DSDT, to which the FADT leads. NULL: there
 * is none. One that is listed twice is found once.
 */
const struct acpi_table *acpi_find(const char signature[4],
                                   const struct acpi_table *after);
const struct acpi_table *acpi_dsdt(void);

/* ---- the MADT (5.2.12) */

#define ACPI_IO_APICS_MAX 8u
#define ACPI_ISA_LINES 16u

/* An input of an IO-APIC, numbered through all of them. */
struct acpi_input {
    uint32_t gsi;
    bool level; /* else edge-triggered */
    bool low;   /* active low */
};

struct acpi_interrupts {
    bool has_pic; /* the firmware says so; irq.c tries it */
    unsigned io_apics;
    struct {
        uintptr_t address;
        uint32_t first_gsi;
    } io_apic[ACPI_IO_APICS_MAX];
    struct acpi_input isa[ACPI_ISA_LINES]; /* where a PC's lines are */
    uint32_t overrides; /* bit N: that of line N is not the default */
};

/* Reads it. False: there is none; (*found) then has no IO-APIC, and the lines
 * as they are by default. */
bool acpi_interrupts(struct acpi_interrupts *found);

/* The next entry of (type) after (after), or the first with NULL; for other
 * entries than those above. Each begins with its type and its bytes. */
const uint8_t *acpi_madt_entry(uint8_t type, const uint8_t *after);

#endif
