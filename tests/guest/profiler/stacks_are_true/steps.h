/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STEPS_H
#define STEPS_H

#include <stdint.h>

/* Calls (function) with the trap flag set: a debug exception comes after each
 * of its instructions and ends in step(). */
void step_through(void (*function)(void));

/* Where the gate of the debug exception must point. */
void step_stub(void);

/* The test's: the instruction at (pc) is next, with these (sp) and (fp). */
void step(uintptr_t pc, uintptr_t sp, uintptr_t fp);

/* Calls (function) on the stack that ends at (top), with a frame of zeros
 * below it, as a new task's would be. */
void on_stack(void *top, void (*function)(void));

/* Functions in assembly, each of which calls nothing. */
void asm_frameless(void);    /* moves, no stack */
void asm_one_push(void);     /* one word in use, then none */
void asm_late_frame(void);   /* instructions before and inside the prologue */
void asm_early_return(void); /* returns before it has a frame */
void asm_endbr(void);        /* begins with endbr */
void asm_leave(void);        /* sub, leave */
void asm_behind_pop(void);   /* instructions between pop and ret */
void asm_jumps(void);        /* a loop without a frame, in odd order */

#endif
