/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Advanced Configuration and Power Interface Specification 6.4, 5.2.
 *
 * Only tables below 4 GiB are read, which are mapped on both widths. The
 * pointer to the EBDA, where the root pointer may be, is in page 0, which is
 * not mapped: the upper end of the conventional memory is searched instead.
 */

#include "acpi.h"

#define READABLE_BEGIN 4096u /* page 0 is not mapped */
#define READABLE_END ((uint64_t)1 << 32)
#define TABLE_BYTES_MAX ((uint32_t)16 << 20)

#define ROOT_ALIGN 16u
#define ROOT_1_BYTES 20u
#define ROOT_2_BYTES 36u

#define FADT_DSDT 40u
#define FADT_X_DSDT 140u

#define MADT_FLAGS 40u
#define MADT_ENTRIES 44u
#define MADT_PC_AT 1u
#define MADT_IO_APIC 1u
#define MADT_IO_APIC_BYTES 12u
#define MADT_OVERRIDE 2u
#define MADT_OVERRIDE_BYTES 10u
#define MPS_POLARITY(flags) ((flags)&3u)
#define MPS_TRIGGER(flags) ((flags) >> 2 & 3u)
#define MPS_LOW 3u
#define MPS_LEVEL 3u

struct root {
    char signature[8];
    uint8_t checksum;
    char oem[6];
    uint8_t revision;
    uint32_t rsdt;
    uint32_t bytes; /* from revision 2 on */
    uint64_t xsdt;
    uint8_t checksum_2, reserved[3];
} __attribute__((packed));
_Static_assert(sizeof(struct root) == ROOT_2_BYTES, "as specified");

static const struct acpi_table *root_table; /* RSDT or XSDT */

static bool same(const char *a, const char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool sums_to_zero(const void *memory, size_t bytes)
{
    const uint8_t *byte = memory;
    uint8_t sum = 0;

    for (size_t i = 0; i < bytes; i++)
        sum = (uint8_t)(sum + byte[i]);
    return sum == 0;
}

static uint32_t get32(const void *memory, size_t at)
{
    const uint8_t *byte = (const uint8_t *)memory + at;

    return byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
           (uint32_t)byte[3] << 24;
}

static uint64_t get64(const void *memory, size_t at)
{
    return get32(memory, at) | (uint64_t)get32(memory, at + 4) << 32;
}

/* The table at (address), NULL if that is none. */
static const struct acpi_table *table_at(uint64_t address)
{
    const struct acpi_table *table = (const void *)(uintptr_t)address;

    if (address < READABLE_BEGIN || address > READABLE_END - sizeof *table ||
        table->bytes < sizeof *table || table->bytes > TABLE_BYTES_MAX ||
        table->bytes > READABLE_END - address ||
        !sums_to_zero(table, table->bytes))
        return NULL;
    return table;
}

/* ---- the root */

static bool take_root(uintptr_t address)
{
    const struct root *root = (const void *)address;
    const struct acpi_table *table = NULL;

    if (!same(root->signature, "RSD PTR ", 8) ||
        !sums_to_zero(root, ROOT_1_BYTES))
        return false;
    if (root->revision >= 2 && root->bytes >= ROOT_2_BYTES &&
        sums_to_zero(root, ROOT_2_BYTES))
        table = table_at(root->xsdt);
    if (table == NULL || !same(table->signature, "XSDT", 4))
        table = table_at(root->rsdt);
    if (table == NULL || (!same(table->signature, "XSDT", 4) &&
                          !same(table->signature, "RSDT", 4)))
        return false;
    root_table = table;
    return true;
}

static bool search_root(uintptr_t begin, uintptr_t end)
{
    for (; begin < end; begin += ROOT_ALIGN)
        if (take_root(begin))
            return true;
    return false;
}

bool acpi_start(uintptr_t root)
{
    root_table = NULL;
    if (root != 0)
        return take_root(root);
    return search_root(0xe0000, 0x100000) || search_root(0x80000, 0xa0000);
}

static size_t entry_bytes(void)
{
    return root_table->signature[0] == 'X' ? 8 : 4;
}

static uint64_t entry(size_t index)
{
    const size_t bytes = entry_bytes();
    const uint8_t *at = (const uint8_t *)(root_table + 1) + index * bytes;

    return bytes == 8 ? get64(at, 0) : get32(at, 0);
}

/* Such a table would follow itself, for ever. */
static bool is_listed_before(size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (entry(i) == entry(index))
            return true;
    return false;
}

const struct acpi_table *acpi_find(const char signature[4],
                                   const struct acpi_table *after)
{
    const struct acpi_table *table;
    bool passed = after == NULL;
    size_t count;

    if (root_table == NULL)
        return NULL;
    count = (root_table->bytes - sizeof *root_table) / entry_bytes();
    for (size_t i = 0; i < count; i++) {
        table = table_at(entry(i));
        if (table == NULL || !same(table->signature, signature, 4) ||
            is_listed_before(i))
            continue;
        if (passed)
            return table;
        passed = table == after;
    }
    return NULL;
}

const struct acpi_table *acpi_dsdt(void)
{
    const struct acpi_table *fadt = acpi_find("FACP", NULL), *dsdt = NULL;

    if (fadt == NULL || fadt->bytes < FADT_DSDT + 4)
        return NULL;
    if (fadt->bytes >= FADT_X_DSDT + 8)
        dsdt = table_at(get64(fadt, FADT_X_DSDT));
    if (dsdt == NULL)
        dsdt = table_at(get32(fadt, FADT_DSDT));
    return dsdt != NULL && same(dsdt->signature, "DSDT", 4) ? dsdt : NULL;
}

/* ---- the MADT */

const uint8_t *acpi_madt_entry(uint8_t type, const uint8_t *after)
{
    const struct acpi_table *madt = acpi_find("APIC", NULL);
    const uint8_t *begin = (const void *)madt;
    size_t at = MADT_ENTRIES;

    if (madt == NULL)
        return NULL;
    while (at + 2 <= madt->bytes) {
        const uint8_t *entry = begin + at;

        if (entry[1] < 2 || entry[1] > madt->bytes - at)
            return NULL;
        if (entry[0] == type && (after == NULL || entry > after))
            return entry;
        at += entry[1];
    }
    return NULL;
}

static void add_io_apic(struct acpi_interrupts *found, const uint8_t *entry)
{
    const unsigned count = found->io_apics;

    if (entry[1] < MADT_IO_APIC_BYTES || count == ACPI_IO_APICS_MAX)
        return;
    found->io_apic[count].address = get32(entry, 4);
    found->io_apic[count].first_gsi = get32(entry, 8);
    found->io_apics++;
}

/* The default of the ISA bus, which most overrides say: edge, active high. */
static void add_override(struct acpi_interrupts *found, const uint8_t *entry)
{
    uint32_t flags;

    if (entry[1] < MADT_OVERRIDE_BYTES || entry[3] >= ACPI_ISA_LINES)
        return;
    flags = entry[8];
    found->overrides |= 1u << entry[3];
    found->isa[entry[3]] = (struct acpi_input){
        .gsi = get32(entry, 4),
        .level = MPS_TRIGGER(flags) == MPS_LEVEL,
        .low = MPS_POLARITY(flags) == MPS_LOW,
    };
}

bool acpi_interrupts(struct acpi_interrupts *found)
{
    const struct acpi_table *madt = acpi_find("APIC", NULL);
    const uint8_t *entry = NULL;

    *found = (struct acpi_interrupts){0};
    for (uint32_t line = 0; line < ACPI_ISA_LINES; line++)
        found->isa[line].gsi = line;
    if (madt == NULL || madt->bytes < MADT_ENTRIES)
        return false;
    found->has_pic = (get32(madt, MADT_FLAGS) & MADT_PC_AT) != 0;
    while ((entry = acpi_madt_entry(MADT_IO_APIC, entry)) != NULL)
        add_io_apic(found, entry);
    while ((entry = acpi_madt_entry(MADT_OVERRIDE, entry)) != NULL)
        add_override(found, entry);
    return true;
}
