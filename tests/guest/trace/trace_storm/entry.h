/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENTRY_H
#define ENTRY_H

#include <stdint.h>

/* What the CPU pushes, in words: ip, cs, flags. */
enum { PUSHED_IP, PUSHED_CS, PUSHED_FLAGS };

/* Entered by the CPU: of the timer, and of each step of an instruction. They
 * call the functions below, with interrupts off. */
void timer_entry(void);
void step_entry(void);

/* Handlers use general registers only, for the entries preserve no others. */
#define HANDLER __attribute__((target("general-regs-only")))

HANDLER void on_timer(uintptr_t *pushed);
HANDLER void on_step(uintptr_t *pushed);

#endif
