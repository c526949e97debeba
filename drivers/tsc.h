/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TSC_H
#define TSC_H

#include <stdint.h>

/*
 * Measures the time stamp counter against the PIT's channel 2 and returns its
 * frequency in Hz, or 0 where the PIT does not count. Waits 50 ms, up to some
 * seconds on a host that keeps stopping us. A measurement is good to about 30
 * parts per million, to 50 on a host that stops us for 20 ms at a time, and to
 * some hundred where that is 50 ms; the counter is read with arch_tsc().
 * Contexts: boot, interrupts off.
 */
uint64_t tsc_calibrate(void);

#endif
