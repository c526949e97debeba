/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CONSOLE_START_H
#define KERNEL_CONSOLE_START_H

/*
 * Detects the serial port. Without one, output is discarded at no cost.
 * Contexts: boot, once.
 */
void console_start(void);

#endif
