/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CALLS_H
#define PROF_CALLS_H

/*
 * The call tree: the stack tree (stacks.h) with functions instead of addresses,
 * so that all calls of B by A share one record. Each stack contains the number
 * of its call. The sums are computed on demand (sums.h).
 */

#include "aggregate/amount.h"
#include "aggregate/table.h"

#include <prof/config.h>
#include <stdbool.h>

/* In builds without callers and trees a call is just its function: there is no
 * call tree, and stacks contain the numbers of functions. */
#define PROF_HAS_CALLS (PROF_WITH_CALLERS || PROF_WITH_TREES)

#define PROF_CALL_OUTERMOST 1u /* it is not recursive */
#define PROF_CALL_OWN 2u       /* of the profiler, or called by it */

struct prof_call {
    struct prof_record record; /* key: number of the function; link: of the
                                  flags below */
    uint32_t child;            /* the newest of its callees, 0 = none */
    uint32_t sibling; /* the next older callee of the same caller, 0 = none */
    struct prof_amount self; /* samples taken in this call itself */
    uint64_t total;          /* weight of these and of those in callees */
};

extern struct prof_table prof_calls;

/* Returns the call (number), which MUST exist. */
static inline struct prof_call *prof_call_at(uint32_t number)
{
    return PROF_TABLE_AT(&prof_calls, struct prof_call, number);
}

static inline bool prof_call_is_own(uint32_t number)
{
    return (prof_call_at(number)->record.link & PROF_CALL_OWN) != 0;
}

/* Creates an empty tree. Contexts: boot. */
void prof_calls_open(void);

/* Returns the number of the call of (function) by the call (caller), 0 for
 * none, after creating it if it is new; 0: no memory. Contexts: the drain. */
uint32_t prof_call_of(uint32_t caller, uint32_t function);

#endif
