/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RESOLVE_H
#define PROF_RESOLVE_H

/*
 * Resolves samples to addresses, functions and call stacks. Contexts: the
 * drain.
 */

#include "aggregate/accounts.h"
#include "aggregate/addresses.h"
#include "aggregate/recent.h"
#include "aggregate/stacks.h"

#include <stdbool.h>

/* Begins a drain, which resolves samples until (most) units of work are done,
 * each of some 50 instructions, not counting the words of the first sample.
 * After that the functions below return NULL, as they do without memory.
 * prof_resolve_is_enough() returns whether that is so. */
void prof_resolve_begin(uint32_t most);
bool prof_resolve_is_enough(void);

/* Limits: half a millisecond at 1,000 MIPS; none. */
#define PROF_RESOLVE_WORK 9000u
#define PROF_RESOLVE_ALL UINT32_MAX

/* Returns the units of work done since prof_resolve_begin(). */
uint32_t prof_resolve_work(void);

/* Returns the callers of a sample with (count) words at (frames) and their
 * (hash), after creating their stack if it is new and adding them to the cache
 * (recent.h). Valid until the next call. */
const struct prof_callers *prof_resolve_callers(const uint32_t *frames,
                                                uint32_t count, uint32_t hash);

/* Returns the leaf of a sample at (pc) below the stack (callers), 0 = none.
 * (kept): the stack words stored with the sample, NULL = none. Creates missing
 * records, and adds the leaf to the cache (recent.h). Valid until the next
 * call. */
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
            stack->last_tsc = tsc; /* samples of several CPUs are unordered */
        prof_amount_add(&stack->self, samples, cycles);
        class = stack->class;
    }
    prof_amount_add(&prof_accounts_of(cpu)->drained[class], samples, cycles);
}

#endif
