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

#include "unwind/decode.h"

#include <prof/prof.h>
#include <stdint.h>

#define PROF_PROLOGUE_FRAME UINT32_MAX /* follow the frame pointer */

/*
 * Determines where the frame of a function is set up. The result is the offset
 * from which on the frame is set up, except in an epilogue, which has restored
 * the frame pointer and has the return address on top of the stack; or
 * PROF_PROLOGUE_LEAF: there is no frame, and the return address is always on
 * top; or PROF_PROLOGUE_UNSURE: neither. It is never 0. Contexts: any.
 */
#define PROF_PROLOGUE_UNSURE 0x7ffffffeu
#define PROF_PROLOGUE_LEAF 0x7fffffffu
uint32_t prof_prologue_learn(const struct prof_range *function,
                             const struct prof_range *text);

/*
 * Returns the words from the stack pointer up to the return address when the
 * instruction at (pc) of (function) is about to run; PROF_PROLOGUE_FRAME if the
 * frame pointer leads to it, or if the code could not be followed to (pc).
 * Reads code within (text) only.
 *
 * (framed) is the result of prof_prologue_learn(), and is determined here if it
 * is 0.
 *
 * Contexts: any. Decodes at most about a thousand instructions, in most
 * functions a few; 1 KiB of stack.
 */
uint32_t prof_prologue_caller(uintptr_t pc, const struct prof_range *function,
                              const struct prof_range *text, uint32_t framed);

/* The same, with what is remembered of the function since a sample of it was
 * drained. Set by aggregate, which remembers it. Contexts: as the drain, but
 * not during it. */
extern uint32_t (*prof_prologue_known)(uintptr_t pc,
                                       const struct prof_range *function);

/*
 * The beginning of a function that may be patched, as it is while it is not:
 * the bytes that may be patched and, as an instruction may begin in the last of
 * these, copies of those after them.
 */
#define PROF_PROLOGUE_PATCHED 5u
#define PROF_PROLOGUE_HEAD                                                     \
    (PROF_PROLOGUE_PATCHED - 1 + PROF_INSTRUCTION_BYTES_MAX)
struct prof_prologue_head {
    uintptr_t begin; /* of the function */
    const struct prof_prologue_head *next;
    uint8_t bytes[PROF_PROLOGUE_HEAD];
};

/* Reads the beginning of the function at head->begin, to use that in place of
 * what is there from now on, for ever. MUST be called before it is first
 * patched. Contexts: thread; the others here may run meanwhile. */
void prof_prologue_add(struct prof_prologue_head *head);

/* Instructions decoded by all these calls, modulo 2^32; a measure of their
 * cost. */
extern uint32_t prof_prologue_steps;

#endif
