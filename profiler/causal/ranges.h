/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RANGES_H
#define PROF_RANGES_H

/*
 * Code as a target: lines of source and inlined functions, whose code is in
 * several places. They cannot be patched, and are learnt from samples
 * (shares.h). Which addresses a line has, the image does not know: the host
 * reads its debug information and names them.
 *
 *     main.c:42@148060+12,1480a0+8
 *
 * That is the name, and the addresses and sizes of its code in hexadecimal, as
 * linked. Longer sets come in parts, each with the name.
 */

#include <prof/causal.h>
#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether (address) is in one of the target's ranges. Contexts: any. Binary
 * search. */
bool prof_ranges_have(const struct prof_target *target, uintptr_t address);

/* Adds code, (bytes) bytes at (begin), to the target (name), which the first
 * makes. Returns as prof_causal_add_function(). Contexts: thread. */
int prof_ranges_put(const char *name, uintptr_t begin, size_t bytes);

/* The error of a (name) that is code and no function, or 0 once its code was
 * added to its target; 1: it is a function's. Contexts: thread. */
int prof_ranges_add(const char *name, enum prof_causal_kind kind);

#endif
