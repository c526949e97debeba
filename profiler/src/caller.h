/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CALLER_H
#define PROF_CALLER_H

/*
 * Where the caller of an interrupted function is to be found.
 *
 * Frame pointers know it only while the function's frame is set up. In the
 * first instructions, in the last ones, and all along in functions that the
 * compiler gave no frame, the frame pointer is still the caller's, and the
 * chain would begin with the caller's caller. There the return address lies a
 * few words above the stack pointer; how many follows from the instructions
 * between the function's beginning and the one interrupted.
 */

#include <prof/prof.h>
#include <stdint.h>

#define PROF_CALLER_FRAME UINT32_MAX /* where the frame pointer says */

/*
 * Words from the stack pointer up to the return address when the instruction
 * at (pc) of the function (function) is about to run, or PROF_CALLER_FRAME,
 * also where it cannot be told. Reads code within (text) only.
 *
 * Contexts: thread. At most about a thousand instructions are looked at, a few
 * in most functions; 1 KiB of stack.
 */
uint32_t prof_caller_place(uintptr_t pc, const struct prof_range *function,
                           const struct prof_range *text);

#endif
