/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RANGES_H
#define PROF_RANGES_H

/*
 * Ranges of code as targets: source lines and inlined functions, whose code
 * consists of several ranges. They cannot be patched; their time is estimated
 * from samples (shares.h). The image does not know the addresses of a line: the
 * host reads them from the debug information and passes them in the name:
 *
 *     main.c:42@148060+12,1480a0+8
 *
 * This is the name, and the link-time addresses and sizes of its code, in
 * hexadecimal. Longer sets are passed in parts, each with the name.
 */

#include <prof/causal.h>
#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns whether (address) is in one of the target's ranges, by binary search.
 * Contexts: any. */
bool prof_ranges_have(const struct prof_target *target, uintptr_t address);

/* Adds the range of (bytes) bytes at (begin) to the target (name), after
 * creating the target if it is new. Contexts: thread. Returns as
 * prof_causal_add_function(). */
int prof_ranges_put(const char *name, uintptr_t begin, size_t bytes);

/* Adds the ranges in (name) to their target. Returns 0, an error, or 1 if
 * (name) is the name of a function. Contexts: thread. */
int prof_ranges_add(const char *name, enum prof_causal_kind kind);

#endif
