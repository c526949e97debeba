/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CLOCK_START_H
#define KERNEL_CLOCK_START_H

#include <stdbool.h>

/*
 * Calibrates the TSC, reads the CMOS clock and starts the kernel's tick.
 * Contexts: boot, once, interrupts off. Waits for some hundredths of a second.
 */
void clock_start(void);

/*
 * What gettimeofday() asks: "tsc", which is the default, or "cmos", the
 * battery-backed clock itself, at each call: right to the second and slow, for
 * a profile to show. False: neither. Contexts: boot.
 */
bool clock_option(const char *value);

/* Whether it is the CMOS clock. */
bool clock_by_cmos(void);

#endif
