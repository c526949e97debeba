/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_H
#define HOOK_H

#include <stdint.h>

/*
 * A kernel's own timer handler: counts, calls prof_sample() with what it has
 * interrupted, and goes on to the handler in hook_next.
 */
void hook_handler(void);
extern volatile uint32_t hook_ticks;
extern uintptr_t hook_next;

#endif
