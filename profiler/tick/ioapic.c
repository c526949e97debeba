/* SPDX-License-Identifier: Apache-2.0 */

/* See ioapic.h. */

#include "tick/ioapic.h"

#include <stddef.h>

#define SELECT 0x00u
#define WINDOW 0x10u

#define VERSION 1u
#define VERSION_MISSING UINT32_MAX
#define VERSION_LAST(version) ((version) >> 16 & 0xffu) /* input */
#define LOW(input) (0x10u + 2u * (input))
#define HIGH(input) (0x11u + 2u * (input))

#ifdef PROF_HOSTED

const struct prof_ioapic_test *prof_ioapic_test;

static uint32_t read_at(uintptr_t at, uint32_t offset)
{
    (void)at;
    return prof_ioapic_test != NULL ? prof_ioapic_test->read(offset)
                                    : VERSION_MISSING;
}

static void write_at(uintptr_t at, uint32_t offset, uint32_t value)
{
    (void)at;
    if (prof_ioapic_test != NULL)
        prof_ioapic_test->write(offset, value);
}

#else

static uint32_t read_at(uintptr_t at, uint32_t offset)
{
    return *(volatile uint32_t *)(at + offset);
}

static void write_at(uintptr_t at, uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(at + offset) = value;
}

#endif

static uint32_t get(uintptr_t at, uint32_t number)
{
    uint32_t selected = read_at(at, SELECT), value;

    write_at(at, SELECT, number);
    value = read_at(at, WINDOW);
    write_at(at, SELECT, selected);
    return value;
}

static void set(uintptr_t at, uint32_t number, uint32_t value)
{
    uint32_t selected = read_at(at, SELECT);

    write_at(at, SELECT, number);
    write_at(at, WINDOW, value);
    write_at(at, SELECT, selected);
}

bool prof_ioapic_has(uintptr_t at, uint32_t input)
{
    uint32_t version = get(at, VERSION);

    return version != VERSION_MISSING && input <= VERSION_LAST(version);
}

struct prof_ioapic_entry prof_ioapic_get(uintptr_t at, uint32_t input)
{
    return (struct prof_ioapic_entry){.low = get(at, LOW(input)),
                                      .high = get(at, HIGH(input))};
}

void prof_ioapic_set(uintptr_t at, uint32_t input,
                     struct prof_ioapic_entry entry)
{
    set(at, LOW(input), PROF_IOAPIC_MASKED);
    set(at, HIGH(input), entry.high);
    set(at, LOW(input), entry.low);
}

void prof_ioapic_set_low(uintptr_t at, uint32_t input, uint32_t low)
{
    set(at, LOW(input), low);
}
