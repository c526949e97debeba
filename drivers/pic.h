/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PIC_H
#define PIC_H

/*
 * The two 8259A interrupt controllers of a PC, sixteen lines in a row: lines 0
 * to 7 on the master, 8 to 15 on the slave, which is wired to line 2.
 */

#include <stdbool.h>

#define PIC_LINE_TIMER 0u
#define PIC_LINE_CASCADE 2u
#define PIC_LINE_COM1 4u
#define PIC_LINE_CLOCK 8u

/*
 * Moves the lines to vectors 32 to 47, masks them all and claims lines 7 and
 * 15, so that spurious interrupts are counted and nothing else.
 * Contexts: boot, interrupts off.
 */
void pic_start(void);

/* Lets interrupts of (line) through, or no longer. Contexts: boot, thread. */
void pic_unmask(unsigned line);
void pic_mask(unsigned line);

/* Acknowledges (line), to the slave too where need be. Contexts: interrupt. */
void pic_eoi(unsigned line);

/* Acknowledges line 0: what current_eoi_mechanism may point to. */
void pic_eoi_timer(void);

/*
 * Whether line 7 or 15, just raised, is a spurious one: the request was gone
 * when the CPU asked. It then needs no pic_eoi() and has had what it needs.
 * For handlers that take over one of these lines. Contexts: interrupt.
 */
bool pic_spurious(unsigned line);

/* Spurious interrupts so far. Contexts: any. */
unsigned pic_spurious_count(void);

#endif
