/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CLOCK_START_H
#define KERNEL_CLOCK_START_H

#include <stdbool.h>

/*
 * Finds the TSC's frequency. Returns 0, or -1 if nobody says it and there is
 * nothing to measure it against, neither a PIT nor what can replace it.
 * Contexts: boot, once, interrupts off. Takes some hundredths of a second.
 */
int clock_calibrate(void);

/* Reads the CMOS clock; clock_ns() is 0 now. Contexts: boot, calibrated. */
void clock_start(void);

/* The kernel's tick, for clock_ticks(). Contexts: interrupt. */
void clock_tick(void);

/* What the TSC was measured against instead of the PIT, for a line; NULL: it
 * was the PIT, or nothing had to be measured. */
const char *clock_instead_of_pit(void);

/*
 * Sets the source of gettimeofday(): "tsc", the default, or "cmos", which reads
 * the battery-backed clock at each call. The latter is slow and has a
 * resolution of one second; it exists as something for a profile to show.
 * False: neither. Contexts: boot.
 */
bool clock_option(const char *value);

/* Whether gettimeofday() reads the CMOS clock. */
bool clock_by_cmos(void);

#endif
