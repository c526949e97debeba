/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel passes the I/O APIC's address and the PIT's input, as ACPI has
 * them, to the profiler's source `nmi`. Here the I/O APIC begins with input 8
 * and has line 0 at 21. On a machine with a PIC nothing else uses it.
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

static struct prof_tick passed;

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    passed = config->tick;
    return __real_prof_init(memory, bytes, config);
}

int service_main(void)
{
    tap_plan(2);
    tap_is_equal(passed.ioapic_at, 0xfec00000u, "the address of the I/O APIC");
    tap_is_equal(passed.nmi_input, 21 - 8, "and its input");
    return tap_end();
}
