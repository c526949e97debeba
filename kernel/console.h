/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CONSOLE_START_H
#define KERNEL_CONSOLE_START_H

/*
 * Looks for the serial port. Where there is none, what is written goes nowhere
 * and costs nothing. Contexts: boot, once.
 */
void console_start(void);

#endif
