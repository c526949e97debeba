/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CLOCK_INIT_H
#define KERNEL_CLOCK_INIT_H

/*
 * Calibrates the TSC, reads the CMOS clock and starts the kernel's tick.
 * Contexts: boot, once, interrupts off. Waits for some hundredths of a second.
 */
void clock_init(void);

#endif
