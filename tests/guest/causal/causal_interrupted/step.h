/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STEP_H
#define STEP_H

#include <stdint.h>

/* The handler of the trap after each instruction: calls prof_sample() with what
 * it has interrupted, as an NMI's would, and then step_taken(). Entered by the
 * CPU. */
void step_handler(void);
extern volatile uint32_t step_count;

/* (flags) are those of the interrupted code. */
void step_taken(uintptr_t flags);

#endif
