/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_HOOKS_H
#define PROF_HOOKS_H

/*
 * Code for functions that are patched (hooks.asm). The function's beginning
 * jumps to its entry, which calls prof_patch_entered() and goes on with the
 * instructions that were moved there (relocate.h). That may replace the return
 * address by one in prof_patch_returns, which calls prof_patch_left() and
 * returns to where it was. Each return address has a place of its own there,
 * and keeps it: whatever happens to the stack meanwhile, it returns right, and
 * what a walk over the stack has found is known later, too.
 */

#include <stdint.h>

#define PROF_ENTRIES 33u
#define PROF_ENTRY_BYTES 48u
/* Moved instructions follow what hooks.asm has at the beginning of an entry. */
#define PROF_ENTRY_HEAD (sizeof(uintptr_t) == 8 ? 10u : 9u)
#define PROF_RETURNS 128u
#define PROF_RETURN_BYTES 8u

extern const uint8_t prof_patch_entries[PROF_ENTRIES * PROF_ENTRY_BYTES];
extern const uint8_t prof_patch_returns[PROF_RETURNS * PROF_RETURN_BYTES];
extern const uint8_t prof_patch_hooks_end[]; /* of all code from the entries on
                                              */

/* Called by entry (at, an address in it), with the place of the function's
 * return address. Contexts: any, interrupts off. */
void prof_patch_entered(uintptr_t at, uintptr_t *place);

/* Called by prof_patch_returns (at, the same): stores the true return address
 * in (*place). Contexts: any, interrupts off. */
void prof_patch_left(uintptr_t at, uintptr_t *place);

#endif
