/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PROLOGUE_H
#define PROF_PROLOGUE_H

/*
 * Prologue analysis: how to find the caller of an interrupted function.
 *
 * The frame pointer leads to it only while the function's frame is set up. In a
 * prologue, at the end of an epilogue, and everywhere in functions compiled
 * without a frame, the frame pointer is still the caller's, and a frame walk
 * would skip the caller. The return address is then a few words above the stack
 * pointer. How many is derived from the instructions between the beginning of
 * the function and the interrupted one.
 */

#include <prof/prof.h>
#include <stdint.h>

#define PROF_PROLOGUE_FRAME UINT32_MAX /* follow the frame pointer */

/*
 * Words from the stack pointer up to the return address when the instruction
 * at (pc) of (function) is about to run. PROF_PROLOGUE_FRAME if the frame
 * pointer leads to it, or if the code could not be followed to (pc). Reads code
 * within (text) only.
 *
 * *(framed) belongs to the function, and is 0 at first: how many of its bytes
 * may be executed without a frame before there is one, as far as is known. With
 * it most addresses need not be followed from the beginning.
 *
 * Contexts: any. Decodes at most about a thousand instructions, a few in
 * most functions; 1 KiB of stack.
 */
uint32_t prof_prologue_caller(uintptr_t pc, const struct prof_range *function,
                              const struct prof_range *text, uint32_t *framed);

/* Instructions decoded by all these calls, modulo 2^32: what they have cost. */
extern uint32_t prof_prologue_steps;

#endif
