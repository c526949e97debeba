/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GUEST_ENTRY_H
#define TESTS_GUEST_ENTRY_H

/*
 * Interrupts of a test's own, in C, and calls on other stacks (lib/entry.asm).
 */

#include "guest/guest.h"

/* A handler uses general registers only: its entry preserves no others. */
#define HANDLER __attribute__((target("general-regs-only")))

/*
 * What a handler is given: (pushed) is where the CPU has pushed ip, cs, flags.
 * Below it are the address at which its entry goes on when it returns, that of
 * an iret unless the handler changes it, and the interrupted frame pointer.
 */
enum {
    PUSHED_FP = -2,
    PUSHED_NEXT = -1,
    PUSHED_IP = 0,
    PUSHED_FLAGS = 2,
    PUSHED_SP = 3, /* with 64 bits only */
};
typedef void guest_interrupt(uintptr_t *pushed);

void guest_entry_0(void);
void guest_entry_1(void);
extern guest_interrupt *guest_entry_functions[2];

/* The address of entry (number), 0 or 1, which calls (function). */
static inline uintptr_t guest_entry(unsigned number, guest_interrupt *function)
{
    guest_entry_functions[number] = function;
    return (uintptr_t)(number == 0 ? guest_entry_0 : guest_entry_1);
}

/* The interrupted stack pointer; without a change of rings, 32 bits wide the
 * CPU pushes none. */
HANDLER static inline uintptr_t guest_pushed_sp(const uintptr_t *pushed)
{
    return sizeof(void *) == 8 ? pushed[PUSHED_SP] : (uintptr_t)(pushed + 3);
}

/* Takes a sample of what was interrupted. */
HANDLER static inline void guest_sample(const uintptr_t *pushed)
{
    prof_sample(pushed[PUSHED_IP], guest_pushed_sp(pushed), pushed[PUSHED_FP]);
}

/* Calls (function) at the (top) of a stack with (fp) in the frame pointer. */
void guest_call_on(void *top, uintptr_t fp, void (*function)(void));

#endif
