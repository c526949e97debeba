/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the PIT's interrupt is, for the source `nmi`: the profiler is told what
 * the firmware says, here of an I/O APIC that begins with input 8 and has line
 * 0 at 21. Nothing else uses it on a machine with a PIC.
 */

#include "guest/tap.h"
#include "guest/wraps.h"

#include <acpi.h>
#include <kernel/service.h>

bool __wrap_acpi_interrupts(struct acpi_interrupts *found);
bool __real_acpi_interrupts(struct acpi_interrupts *found);

bool __wrap_acpi_interrupts(struct acpi_interrupts *found)
{
    const bool is_there = __real_acpi_interrupts(found);

    found->io_apic[0].first_gsi = 8;
    found->isa[0].gsi = 21;
    return is_there;
}

static struct prof_tick told;

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    told = config->tick;
    return __real_prof_init(memory, bytes, config);
}

int service_main(void)
{
    tap_plan(2);
    tap_is_equal(told.ioapic_at, 0xfec00000u, "the address of the I/O APIC");
    tap_is_equal(told.nmi_input, 21 - 8, "and its input");
    return tap_end();
}
