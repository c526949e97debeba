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
 * Determines where the frame of a function is set up, and stores it in *framed,
 * which belongs to the function and is 0 at first; no effect if it is set. The
 * result is the offset from which on the frame is set up, except in an
 * epilogue, which has restored the frame pointer and has the return address on
 * top of the stack; or PROF_PROLOGUE_LEAF: there is no frame, and the return
 * address is always on top; or PROF_PROLOGUE_UNSURE: neither. Contexts: thread.
 */
#define PROF_PROLOGUE_UNSURE 0x7ffffffeu
#define PROF_PROLOGUE_LEAF 0x7fffffffu
void prof_prologue_learn(const struct prof_range *function,
                         const struct prof_range *text, uint32_t *framed);

/*
 * Returns the words from the stack pointer up to the return address when the
 * instruction at (pc) of (function) is about to run; PROF_PROLOGUE_FRAME if the
 * frame pointer leads to it, or if the code could not be followed to (pc).
 * Reads code within (text) only.
 *
 * *framed is the result of prof_prologue_learn(), and is determined here if it
 * is 0.
 *
 * Contexts: any. Decodes at most about a thousand instructions, in most
 * functions a few; 1 KiB of stack.
 */
uint32_t prof_prologue_caller(uintptr_t pc, const struct prof_range *function,
                              const struct prof_range *text, uint32_t *framed);

/* Instructions decoded by all these calls, modulo 2^32; a measure of their
 * cost. */
extern uint32_t prof_prologue_steps;

#endif
