/* SPDX-License-Identifier: Apache-2.0 */

/* Source: Intel, 82093AA I/O Advanced Programmable Interrupt Controller
 * (IOAPIC), 1996. */

#include "ioapic.h"

#include <arch/cpu.h>
#include <stddef.h>

#define SELECT 0x00u
#define WINDOW 0x10u

#define VERSION 1u
#define VERSION_LAST(version) ((version) >> 16 & 0xffu) /* input */
#define VERSION_MISSING UINT32_MAX
#define LAST_MAX 239u
#define ENTRY_LOW(input) (0x10u + 2u * (input))
#define ENTRY_HIGH(input) (0x11u + 2u * (input))
#define ENTRY_ACTIVE_LOW (1u << 13)
#define ENTRY_LEVEL (1u << 15)
#define ENTRY_MASKED (1u << 16)
#define ENTRY_APIC_SHIFT 24

static struct ioapic {
    uintptr_t address;
    uint32_t first, count; /* of its inputs */
} all[IOAPICS_MAX];
static unsigned count;

static volatile uint32_t *at(const struct ioapic *ioapic, unsigned offset)
{
    return (volatile uint32_t *)(ioapic->address + offset);
}

/* In two steps, between which nobody else may come. */
static uint32_t get(const struct ioapic *ioapic, uint32_t number)
{
    const bool on = arch_interrupts_save();
    uint32_t value;

    *at(ioapic, SELECT) = number;
    value = *at(ioapic, WINDOW);
    arch_interrupts_restore(on);
    return value;
}

static void set(const struct ioapic *ioapic, uint32_t number, uint32_t value)
{
    const bool on = arch_interrupts_save();

    *at(ioapic, SELECT) = number;
    *at(ioapic, WINDOW) = value;
    arch_interrupts_restore(on);
}

bool ioapic_add(uintptr_t address, uint32_t first_gsi)
{
    struct ioapic *ioapic = &all[count];
    uint32_t version;

    if (count == IOAPICS_MAX || address == 0)
        return false;
    ioapic->address = address;
    ioapic->first = first_gsi;
    version = get(ioapic, VERSION);
    if (version == VERSION_MISSING || VERSION_LAST(version) == 0 ||
        VERSION_LAST(version) > LAST_MAX)
        return false;
    ioapic->count = VERSION_LAST(version) + 1;
    for (uint32_t input = 0; input < ioapic->count; input++)
        set(ioapic, ENTRY_LOW(input), ENTRY_MASKED);
    count++;
    return true;
}

unsigned ioapic_count(void)
{
    return count;
}

static const struct ioapic *of(uint32_t gsi)
{
    for (unsigned i = 0; i < count; i++)
        if (gsi - all[i].first < all[i].count)
            return &all[i];
    return NULL;
}

bool ioapic_has(uint32_t gsi)
{
    return of(gsi) != NULL;
}

bool ioapic_find(uint32_t gsi, uintptr_t *address, uint32_t *input)
{
    const struct ioapic *ioapic = of(gsi);

    if (ioapic == NULL)
        return false;
    *address = ioapic->address;
    *input = gsi - ioapic->first;
    return true;
}

/* The destination first: the lower half opens it. */
void ioapic_route(uint32_t gsi, uint8_t vector, uint32_t apic, bool level,
                  bool low)
{
    const struct ioapic *ioapic = of(gsi);

    if (ioapic == NULL)
        return;
    gsi -= ioapic->first;
    set(ioapic, ENTRY_HIGH(gsi), apic << ENTRY_APIC_SHIFT);
    set(ioapic, ENTRY_LOW(gsi),
        vector | (level ? ENTRY_LEVEL : 0) | (low ? ENTRY_ACTIVE_LOW : 0));
}

void ioapic_mask(uint32_t gsi)
{
    const struct ioapic *ioapic = of(gsi);

    if (ioapic == NULL)
        return;
    gsi -= ioapic->first;
    set(ioapic, ENTRY_LOW(gsi), get(ioapic, ENTRY_LOW(gsi)) | ENTRY_MASKED);
}
