/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_H
#define HOOK_H

#include "guest/guest.h"

#include <stdint.h>

/*
 * A kernel's own timer handler: counts, calls prof_sample() with what it has
 * interrupted, and goes on to the handler in hook_next.
 */
void hook_handler(void);
extern volatile uint32_t hook_ticks;
extern uintptr_t hook_next;

/* Puts it into the timer's gate, before the present handler. */
static inline void hook_timer(void)
{
    hook_next = guest_handler();
    guest_set_handler((uintptr_t)hook_handler);
}

#endif
