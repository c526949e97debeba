/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RESOLVE_H
#define PROF_RESOLVE_H

/*
 * From a sample to its address, function and call stack. Contexts: the drain.
 */

#include "aggregate/accounts.h"
#include "aggregate/addresses.h"
#include "aggregate/recent.h"
#include "aggregate/stacks.h"

#include <stdbool.h>

/* A drain begins. It resolves samples until enough work was done: (most), in
 * units of some 50 instructions, besides the words of the first sample. From
 * then on the functions below return NULL, as they do without memory. */
void prof_resolve_begin(uint32_t most);
bool prof_resolve_is_enough(void);

/* Half a millisecond at 1,000 MIPS; and no end. */
#define PROF_RESOLVE_WORK 9000u
#define PROF_RESOLVE_ALL UINT32_MAX

/* What was done since then, in the same units. */
uint32_t prof_resolve_work(void);

/* Finds the callers of a sample with (count) words at (frames) and their
 * (hash), creates their stack if it is new, and notes them (recent.h). Valid
 * until the next call. */
const struct prof_callers *prof_resolve_callers(const uint32_t *frames,
                                                uint32_t count, uint32_t hash);

/* The leaf of a sample at (pc) below the stack (callers), 0 = none; (kept) are
 * the words kept of the stack, NULL = none. Creates what is new, and notes it
 * (recent.h). Valid until the next call. */
const struct prof_recent_leaf *prof_resolve(uintptr_t pc, uint32_t callers,
                                            const uint32_t *kept);

/* Adds (samples) of (cpu) that cover (cycles), the last of them taken at (tsc),
 * to (stack), NULL = idle, and to its account. */
static inline void prof_credit(struct prof_cpu *cpu, struct prof_stack *stack,
                               uint32_t samples, uint64_t cycles, uint64_t tsc)
{
    enum prof_class class = PROF_CLASS_IDLE;

    if (PROF_CPUS_MAX > 1 && stack != NULL && !prof_is_shown(cpu)) {
        class = stack->class;
    } else if (stack != NULL) {
        if (stack->self.samples == 0)
            stack->first_tsc = tsc;
        if (PROF_CPUS_MAX == 1 || (int64_t)(tsc - stack->last_tsc) > 0)
            stack->last_tsc = tsc; /* those of several CPUs are not in order */
        prof_amount_add(&stack->self, samples, cycles);
        class = stack->class;
    }
    prof_amount_add(&prof_accounts_of(cpu)->drained[class], samples, cycles);
}

#endif
