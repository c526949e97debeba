/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TSC's frequency by the clocks of machines without a PIT. QEMU counts
 * instructions, by which all of them run.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <tsc.h>

#define PPM_MAX 50
#define RTC_PPM_MAX 300 /* two reads of ports in 62 ms */

static void must_be_within(enum tsc_clock clock, int64_t ppm, const char *what)
{
    const bool on = arch_interrupts_save();
    const long long hz = (long long)tsc_calibrate_by(clock);

    arch_interrupts_restore(on);
    tap_note("off by %d ppm", (int)(hz / 1000 - GUEST_MS));
    tap_is_between(hz, GUEST_TSC_HZ - ppm * 1000, GUEST_TSC_HZ + ppm * 1000,
                   what);
}

int service_main(void)
{
    tap_plan(3);
    must_be_within(TSC_BY_ACPI, PPM_MAX, "by ACPI's timer");
    must_be_within(TSC_BY_APIC, PPM_MAX, "by the local APIC's timer");
    must_be_within(TSC_BY_RTC, RTC_PPM_MAX, "by the RTC");
    return tap_end();
}
