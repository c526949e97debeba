/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RESOLVE_H
#define PROF_RESOLVE_H

/*
 * From a sample to its address, function and call stack. Contexts: the drain.
 */

#include "profile/accounts.h"
#include "profile/addresses.h"

#include <stdbool.h>

/* Where a sample belongs. Idle samples have no address and no stack. */
struct prof_resolved {
    enum prof_class class;
    uint32_t address;        /* its number (addresses.h) */
    uint32_t stack;          /* its number (stacks.h) */
    bool caller_unreachable; /* see struct prof_accounts */
    uint32_t stop; /* why its walk ended early, enum prof_walk_stop, or 0 */
};

/*
 * Resolves a sample at (pc), whose words begin at (words) of the frame vector;
 * (walk) is what prof_walk() returned. (address) is what is known of (pc), or
 * NULL. False: it is new and there is no memory for it. Half a KiB of stack.
 */
bool prof_resolve(uintptr_t pc, const struct prof_address *address,
                  const uint32_t *words, uint32_t walk,
                  struct prof_resolved *resolved);

/* Adds (samples) that cover (cycles), the last of them taken at (tsc), to the
 * accounts and to the stack. */
void prof_credit(const struct prof_resolved *resolved, uint64_t samples,
                 uint64_t cycles, uint64_t tsc);

/* The same for one sample without callers at (address), whose stack is set. */
void prof_credit_flat(const struct prof_address *address, uint64_t cycles,
                      uint64_t tsc);

#endif
