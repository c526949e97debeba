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
                                       which the drain calls unresolved */
    uint32_t addresses;             /* distinct ones that were sampled */
    uint32_t functions;             /* and distinct functions */
};

/*
 * Updates the sums; weights are by the option prof.weight. The result is valid
 * until the next drain or reset. Contexts: thread, after prof_enter()
 * (base/busy.h), or the drain in the interrupt may come at any moment. Neither
 * drains nor allocates. Linear in the number of stacks; constant if nothing has
 * changed since the last call.
 */
const struct prof_sums *prof_sums(void);

/* What (amount) weighs in the sums, by the option prof.weight when they were
 * made. */
uint64_t prof_sums_weight(const struct prof_amount *amount);

/* Forces the next prof_sums() to sum again, for changes other than a drain. */
void prof_sums_expire(void);

#endif
