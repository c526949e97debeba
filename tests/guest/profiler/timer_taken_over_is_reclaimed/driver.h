/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdint.h>

/*
 * A driver that takes the timer's gate for itself: its handler counts, and
 * goes on to the handler that it was given.
 */
void driver_handler(void);
extern volatile uint32_t driver_ticks;
extern uintptr_t driver_next;

#endif
