/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TSC_H
#define TSC_H

#include <stdint.h>

/*
 * Calibrates the time stamp counter (arch_tsc()) with the PIT's channel 2 and
 * returns its frequency in Hz, or 0 if the PIT does not count. Takes 50 ms, up
 * to some seconds on a busy host. The error is about 30 ppm; 50 if the host
 * suspends the guest for 20 ms at a time, some hundred if for 50 ms.
 * Contexts: boot, interrupts off.
 */
uint64_t tsc_calibrate(void);

/* Other clocks, for machines without a PIT. */
enum tsc_clock {
    TSC_BY_ACPI, /* the power management timer, 3.58 MHz */
    TSC_BY_APIC, /* the local APIC's timer, if arch_apic_hz() knows its rate */
    TSC_BY_RTC,  /* its periodic flag, 1,024 Hz */
    TSC_CLOCKS,
};

/*
 * The same by (clock); 0 if it is missing or does not count. Takes 50 to 100
 * ms. The error is about 50 ppm, with the RTC, which is read by ports, some
 * hundred. The RTC's interrupt MUST be masked. Contexts: boot, interrupts off,
 * after acpi_start().
 */
uint64_t tsc_calibrate_by(enum tsc_clock clock);

/* The same by the first of them that works, and its (*name). */
uint64_t tsc_calibrate_without_pit(const char **name);

#endif
