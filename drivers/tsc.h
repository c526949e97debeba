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

#endif
