/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GUEST_HOOK_H
#define TESTS_GUEST_HOOK_H

#include "guest/entry.h"

/*
 * A handler that somebody else puts into the timer's gate: counts, and goes on
 * to the handler in hook_next.
 */
static volatile uint32_t hook_ticks;
static uintptr_t hook_next;

HANDLER static inline void hook_count(uintptr_t *pushed)
{
    hook_ticks++;
    pushed[PUSHED_NEXT] = hook_next;
}

/* The same as a kernel's own, which calls prof_sample(). */
HANDLER static inline void hook_sample(uintptr_t *pushed)
{
    guest_sample(pushed);
    hook_count(pushed);
}

/* Puts (hook) into the timer's gate, before (next). */
static inline void hook_timer(guest_interrupt *hook, uintptr_t next)
{
    hook_next = next;
    guest_set_handler(guest_entry(0, hook));
}

#endif
