/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STEPS_H
#define STEPS_H

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
