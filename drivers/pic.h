/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PIC_H
#define PIC_H

/*
 * The two 8259A interrupt controllers of a PC: lines 0 to 7 on the master, 8 to
 * 15 on the slave, which is connected to line 2.
 */

#include <stdbool.h>

#define PIC_LINE_TIMER 0u
#define PIC_LINE_CASCADE 2u
#define PIC_LINE_COM2 3u
#define PIC_LINE_COM1 4u
#define PIC_LINE_CLOCK 8u

/* Whether there are any: their masks read as written. Contexts: boot,
 * interrupts off. */
bool pic_present(void);

/*
 * Maps the lines to vectors 32 to 47 and masks them all. Installs handlers for
 * lines 7 and 15 that count spurious interrupts.
 * Contexts: boot, interrupts off.
 */
void pic_start(void);

/* Enables or disables (line). Contexts: boot, thread. */
void pic_unmask(unsigned line);
void pic_mask(unsigned line);

/* Acknowledges (line), also to the slave if needed. Contexts: interrupt. */
void pic_eoi(unsigned line);

/* Acknowledges line 0: what current_eoi_mechanism may point to. */
void pic_eoi_timer(void);

/*
 * Whether the current interrupt of line 7 or 15 is spurious. If so, this call
 * has completed it, and pic_eoi() must not be called. For handlers that replace
 * those of pic_start(). Contexts: interrupt.
 */
bool pic_spurious(unsigned line);

#endif
