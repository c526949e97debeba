/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CONSOLE_START_H
#define KERNEL_CONSOLE_START_H

#include <stdbool.h>

/*
 * Detects the serial port. Without one, output is discarded at no cost.
 * Contexts: boot, once.
 */
void console_start(void);

/* Whether a call of console_write() is in progress. Contexts: any. */
bool console_in_use(void);

#endif
