/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SUMS_H
#define PROF_SUMS_H

/*
 * Sums over the stack tree for reports: by function (functions.h), by call
 * (calls.h) and by instruction class (below).
 */

#include "aggregate/amount.h"

struct prof_sums {
    struct prof_amount vm_exit; /* at instructions that leave the guest, or in
                                   the function prof.vmm */
    struct prof_amount masked;  /* just after interrupts were enabled */
    struct prof_amount own;     /* in the profiler, and in named functions that
                                   it called; in no other sum. 0 without
                                   PROF_HAS_CALLS (calls.h) */
    struct prof_amount own_unnamed; /* of own: in functions without a name,
                                       which the drain counts as unresolved */
    uint32_t addresses;             /* distinct addresses sampled */
    uint32_t functions;             /* distinct functions sampled */
};

/*
 * Updates and returns the sums, with weights by the option prof.weight. The
 * result is valid until the next drain or reset. Neither drains nor allocates.
 * Linear in the number of stacks; constant if nothing has changed since the
 * last call. Contexts: thread, after prof_enter() (base/busy.h), as the
 * interrupt could drain otherwise.
 */
const struct prof_sums *prof_sums(void);

/* Returns the weight of (amount) in the sums, by the option prof.weight when
 * they were computed. */
uint64_t prof_sums_weight(const struct prof_amount *amount);

/* Forces the next prof_sums() to sum again, for changes other than a drain. */
void prof_sums_expire(void);

#endif
