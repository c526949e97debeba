/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RESOLVE_H
#define PROF_RESOLVE_H

/*
 * From a sample to its address, function and call stack. Contexts: the drain.
 */

#include "profile/accounts.h"
#include "profile/addresses.h"
#include "profile/recent.h"
#include "profile/stacks.h"

#include <stdbool.h>

/* Finds the callers of a sample with (count) words at (frames) and their
 * (hash), creates their stack if it is new, and notes them (recent.h). False:
 * no memory. */
bool prof_resolve_callers(const uint32_t *frames, uint32_t count, uint32_t hash,
                          struct prof_callers *callers);

/*
 * The stack of a sample at (pc) below the stack (callers), 0 = none; (kept) are
 * the words kept of the stack, NULL = none. Creates what is new, and notes it
 * (recent.h). 0: the CPU was idle. PROF_NO_MEMORY: something is new and there
 * is no memory for it.
 */
uint32_t prof_resolve(uintptr_t pc, uint32_t callers, const uint32_t *kept);

#define PROF_NO_MEMORY UINT32_MAX

/* Adds (samples) that cover (cycles), the last of them taken at (tsc), to stack
 * (number), 0 = idle, and to its account. */
static inline void prof_credit(uint32_t number, uint64_t samples,
                               uint64_t cycles, uint64_t tsc)
{
    enum prof_class class = PROF_CLASS_IDLE;

    if (number != 0) {
        struct prof_stack *stack = prof_stack_at(number);

        if (stack->self.samples == 0)
            stack->first_tsc = tsc;
        stack->last_tsc = tsc;
        prof_amount_add(&stack->self, samples, cycles);
        class = stack->class;
    }
    prof_amount_add(&prof_accounts.drained[class], samples, cycles);
}

#endif
