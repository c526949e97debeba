/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CLOCK_START_H
#define KERNEL_CLOCK_START_H

/*
 * Calibrates the TSC, reads the CMOS clock and starts the kernel's tick.
 * Contexts: boot, once, interrupts off. Waits for some hundredths of a second.
 */
void clock_start(void);

#endif
